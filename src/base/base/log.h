// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The levels of messages. */

#include <stdbool.h>

/** In the order of the values of --log. */
enum log_level {
	LOG_ERROR,
	LOG_WARN,
	LOG_INFO,
	LOG_DEBUG,
};

/** The word for @level, as in "distinit: warning: ...". @colour: with a terminal's escape codes. */
static inline const char *log_word(enum log_level level, bool colour) {
	static const char *const plain[] = {"error", "warning", "info", "debug"};
	static const char *const coloured[] = {"\033[1;31merror\033[m", "\033[1;33mwarning\033[m", "info",
					       "debug"};
	return colour ? coloured[level] : plain[level];
}
