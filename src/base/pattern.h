// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The files that a path names whose last part may have wildcards: "/dev/shm/nccl-*". */

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
 * Split @text, which @label names in messages, with @example. Returns 0; -EINVAL: it is not absolute, has no name, or another
 * wildcard than '*', or one in its folder.
 */
int pattern_read(struct arena *arena, const char *label, struct str text, const char *example,
		 struct pattern *out, struct err *err);

/** Whether it names the file @name of its folder. "." and ".." are none. */
bool pattern_matches(const struct pattern *pattern, const char *name);
