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

/**
 * Begin a member of an object: append its key, as in "key": . Unless it is the first one, or
 * follows a space or a line break, a comma comes before it.
 */
void json_put_key(struct buf *buf, const char *key);

/** Append a member: a string, or null for NULL. */
void json_put_member(struct buf *buf, const char *key, const char *text);

/** The same for a number, or null for UINT32_MAX, which stands for unknown. */
void json_put_number(struct buf *buf, const char *key, uint64_t number);

/** The same for a fact: 0 is false, and less than that null. */
void json_put_fact(struct buf *buf, const char *key, int fact);
