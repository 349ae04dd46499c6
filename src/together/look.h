// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Looks at the files of --progress in a child process. A file system that does not answer holds the child, and nobody else:
 * no signal ends a process in the kernel's D state. So the caller never waits for the child.
 *
 * One look at a time: while a child is held, no other one is started.
 */

#include "base/pattern.h"

#include <stdint.h>
#include <sys/types.h>

/** What was seen of each file in the last two looks, shared with the child. */
struct marks;

struct look {
	/** The child's answer, for poll(); -1: no look is under way. */
	int fd;

	// For look.c.

	/** The child, until it has been reaped; 0: there is none. */
	pid_t pid;
	/** NULL: not mapped yet. */
	struct marks *marks;
	/** Which half of the marks the last answer has left: 0 or 1. */
	uint32_t half;
};

struct look_answer {
	/** How many files are new, or have another size or time, since the last look that was answered. */
	uint32_t n_changed;
	/** The errno for the folder; 0: it is there. */
	int error;
	/** The newest time of the changed files, in ns since 1970, of those that count; 0: none does. */
	uint64_t newest;
};

/** Start looking at the files of @pattern. Returns 0; a negative errno, -EBUSY if the last child has not ended. */
int look_begin(struct look *look, const struct pattern *pattern);

/** Read the answer. Returns 1; 0 if the child was killed; -EAGAIN if it has not answered. After 1 and 0 the look is over. */
int look_read(struct look *look, struct look_answer *answer);

/** Give the look up: kill the child, if there is one, and do not wait for it. */
void look_end(struct look *look);
