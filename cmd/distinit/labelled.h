// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Lines for people: a label, and a text in a column of its own. */

#include "distinit/session.h"

/** Append a line, for a terminal: @label, and @text in a column of its own. */
void labelled_put(struct buf *out, const char *label, const char *text);

/** Print @out; with colours, what begins a line is bold, and the master and findings stand out. Returns the exit status. */
int labelled_print(struct session *s, const struct buf *out);
