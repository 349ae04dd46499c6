// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Looks at the files of --progress in a child process. If a file system does not answer, the child blocks,
 * and no signal ends a process in the kernel's D state. So the caller never waits for the child.
 *
 * There is one look at a time: while a child is blocked, no other one is started.
 */

#include "base/pattern.h"

#include <stdint.h>
#include <sys/types.h>

/** A mark for each file of the last two looks, in memory shared with the child. */
struct marks;

struct look {
	/** Readable when the child has answered; -1: no look is under way. */
	int fd;

	// For look.c.

	/** The child, until it is reaped; 0: there is none. */
	pid_t pid;
	/** NULL: not mapped yet. */
	struct marks *marks;
	/** The half of the marks that belongs to the last answer: 0 or 1. */
	uint32_t half;
};

struct look_answer {
	/** How many files are new, or have another size or time, since the last look that was answered. */
	uint32_t n_changed;
	/** The errno of the attempt to open the folder; 0: the folder exists. */
	int error;
	/** The newest plausible time of the changed files, in ns since 1970; 0: no plausible time. */
	uint64_t newest;
};

/**
 * Start a look at the files of @pattern. Returns 0; a negative errno; -EBUSY if the last child has not ended.
 */
int look_begin(struct look *look, const struct pattern *pattern);

/**
 * Read the child's answer. Returns 1; 0 if the child was killed; -EAGAIN if it has not answered. 1 and 0 end
 * the look.
 */
int look_read(struct look *look, struct look_answer *answer);

/** End the look: kill the child, if there is one, and do not wait for it. */
void look_end(struct look *look);
