// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The only place in which a wait blocks: until a descriptor is ready, but never beyond the deadline, nor over a signal that is to end
 * it; and every ten seconds the caller hears that it still lasts.
 */

#include "net/wait.h"

struct watch {
	const struct wait_for *wait;
	uint64_t started;
	uint64_t deadline;
	uint64_t next_progress;
	/** The signals to watch come out of this one, while they are blocked. */
	int signal_fd;
	/** The mask as it was before. */
	uint64_t mask;
	/** SIGCHLD was pending before, and is to be so afterwards. */
	bool child_pending;
	/** The signal that came, or 0. */
	int signal;
	/** Why the last attempt failed. */
	struct err failure;
};

/** Begin. Returns 0, and watch_done() has to be called; or a negative errno, with @watch->failure set. */
int watch_begin(struct watch *watch, const struct wait_for *wait);

/** Put mask and descriptors back. A signal that comes at the last moment is still seen: @watch->signal is set then. */
void watch_done(struct watch *watch);

/**
 * Wait until @fd is ready for @events (-1: none), or until @until.
 *
 * Returns 1 if it is ready; 0 if the time is over (that of @until or the deadline); -EINTR if a signal came.
 */
int watch_poll(struct watch *watch, int fd, short events, uint64_t until);

/** The time was over before an attempt had an end: say so by @why, a clause, unless an earlier one failed for a reason. Returns -EAGAIN. */
int watch_cut_short(struct watch *watch, const char *why);
