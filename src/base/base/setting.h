// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * A setting of the user and its origin. Messages name the option or variable, and the origin decides with
 * whose rights the file that it names is opened (access/access.h).
 */

#include <stdbool.h>
#include <stddef.h>

/** The origin of a setting. Least trusted first, so that a zeroed struct is untrusted. */
enum set_by {
	BY_VARIABLE,
	/** A manager: a path that all jobs of its kind have, or one in a file. */
	BY_MANAGER,
	/** The command line. Its author decides everything. */
	BY_COMMAND_LINE,
};

struct setting {
	/** NULL: not set. */
	const char *value;
	/** The option or variable: "--hosts", "DISTINIT_HOSTS". */
	const char *from;
	enum set_by by;
};

/** Whether @setting was set by an option, not by a variable. */
static inline bool setting_by_option(const struct setting *setting) {
	return setting->value && setting->by == BY_COMMAND_LINE;
}
