// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Prints lines for people: a label, and a text in a column of its own. */

#include "distinit/session.h"

/** Append a line: @label, and @text in a column of its own. */
void labelled_put(struct buf *out, const char *label, const char *text);

/**
 * Print @out. With colours, labels are bold, and the master and findings are highlighted. Returns the exit
 * status.
 */
int labelled_print(struct session *s, const struct buf *out);
