// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Finds out what the terminal can show. The functions ask each time, because few messages are printed. */

#include <stdbool.h>
#include <stddef.h>

/** Whether stderr is a terminal whose lines can be rewritten: TERM is set, and not "dumb". */
bool terminal_rewrites(void);

/**
 * Whether to use colours on @fd: it is such a terminal, and NO_COLOR is unset or empty (https://no-color.org).
 */
bool terminal_colours(int fd);

/** The number of columns of stderr's terminal; 80 if it is not known. */
size_t terminal_columns(void);
