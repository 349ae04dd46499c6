// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * A setting by the user and where it came from, so that messages can name the option or variable.
 */

#include <stdbool.h>
#include <stddef.h>

struct setting {
	/** NULL: not set. */
	const char *value;
	/** The option or variable: "--hosts", "DISTINIT_HOSTS". */
	const char *from;
};

/** Whether it was set on the command line, not by a variable. */
static inline bool setting_by_option(const struct setting *setting) {
	return setting->from && setting->from[0] == '-';
}
