// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The only function that blocks during a wait: until a file descriptor is ready, but never beyond
 * the deadline or after a signal that ends the wait. It reports progress to the caller at
 * intervals.
 */

#include "net/wait.h"

struct watch {
	const struct wait_for *wait;
	uint64_t started;
	uint64_t deadline;
	uint64_t next_progress;
	/** The signalfd of the watched signals, which are blocked meanwhile. */
	int signal_fd;
	/** The previous signal mask. */
	uint64_t mask;
	/** SIGCHLD was already pending, and must stay pending. */
	bool child_pending;
	/** The signal that came, or 0. */
	int signal;
	/** Why the last attempt failed. */
	struct err failure;
};

/** Start. Returns 0, and watch_done() must come; or a negative errno, with @watch->failure set. */
int watch_begin(struct watch *watch, const struct wait_for *wait);

/** Restore the signal mask and descriptors. @watch->signal is set if a signal comes at the last moment. */
void watch_done(struct watch *watch);

/**
 * Wait until @fd is ready for @events (-1: no descriptor), or until @until.
 *
 * Returns 1 if it is ready; 0 if @until or the deadline passed; -EINTR if a signal came.
 */
int watch_poll(struct watch *watch, int fd, short events, uint64_t until);

/** The deadline passed in an attempt: the failure is @why, unless there was one before. Returns -EAGAIN. */
int watch_cut_short(struct watch *watch, const char *why);
