// SPDX-License-Identifier: Apache-2.0
#pragma once

/** A path whose last part may have wildcards, "/dev/shm/nccl-*", and the files that it matches. */

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>

struct pattern {
	/** As given. */
	const char *text;
	/** "/dev/shm", or "/". */
	const char *folder;
	/** "nccl-*": a '*' stands for any text, but not for a '.' at the beginning. */
	struct str name;
};

/**
 * Split @text into a folder and a name. @label is its option, and @example a valid value, for messages.
 * Returns 0; -EINVAL if it is not absolute, has no name, a wildcard other than '*', or one in the folder.
 */
int pattern_read(struct arena *arena, const char *label, struct str text, const char *example,
		 struct pattern *out, struct err *err);

/** Whether @pattern matches the file @name of its folder. "." and ".." never match. */
bool pattern_matches(const struct pattern *pattern, const char *name);
