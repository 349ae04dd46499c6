// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What stderr, and for colours stdout, can show. They ask anew each time: few messages are printed. */

#include <stdbool.h>
#include <stddef.h>

/** Whether stderr is a terminal whose lines can be rewritten: TERM is set, and not "dumb". */
bool terminal_rewrites(void);

/** Whether @fd has colours: the same of it, and NO_COLOR is not set, or empty (https://no-color.org). */
bool terminal_colours(int fd);

/** The columns of that terminal; 80 if it does not say. */
size_t terminal_columns(void);
