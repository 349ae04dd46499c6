// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * A setting by the user and where it came from, so that messages can name the option or variable,
 * and files are opened with the rights of the one who named them (access/access.h).
 */

#include <stdbool.h>
#include <stddef.h>

/** Who set something. The first is trusted least, so that a setting without this is not trusted. */
enum teller {
	BY_VARIABLE,
	/** A manager: a path that its kind of job always has, or one in a file. */
	BY_MANAGER,
	/** The author of the command line decides everything. */
	BY_COMMAND_LINE,
};

struct setting {
	/** NULL: not set. */
	const char *value;
	/** The option or variable: "--hosts", "DISTINIT_HOSTS". */
	const char *from;
	enum teller by;
};

/** Whether it was set on the command line, not by a variable. */
static inline bool setting_by_option(const struct setting *setting) {
	return setting->value && setting->by == BY_COMMAND_LINE;
}
