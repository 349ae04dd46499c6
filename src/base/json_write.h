// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Pieces of JSON (RFC 8259), written into a buf. */

#include "base/buf.h"

/** Whether @text is valid UTF-8. JSON cannot hold anything else. */
bool utf8_valid(struct str text);

/** Append @text as a JSON string. Each byte of invalid UTF-8 becomes U+FFFD. */
void json_put_string(struct buf *buf, struct str text);

/** Append @text as a JSON string, or null for NULL. */
void json_put_text(struct buf *buf, const char *text);
