// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What the user told, and where: kept together, so that every message can name the option or the variable. */

#include <stdbool.h>
#include <stddef.h>

struct told {
	/** NULL: nothing was told. */
	const char *value;
	/** The option or the variable: "--hosts", "DISTINIT_HOSTS". */
	const char *from;
};

/** Whether it was told on the command line, and not by a variable. */
static inline bool told_by_option(const struct told *told) {
	return told->from && told->from[0] == '-';
}
