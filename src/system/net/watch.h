// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * A wait with a deadline that signals can end. watch_poll() is the only function that blocks during a wait:
 * until a file descriptor is ready, but never beyond the deadline or after such a signal. It also calls the
 * progress function at intervals.
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
	/** The signal that came; 0: none. */
	int signal;
	/** Why the last attempt failed; empty: none has failed. */
	struct err failure;
};

/** Begin a wait. Returns 0: then watch_done() must follow; or a negative errno, with @watch->failure set. */
int watch_begin(struct watch *watch, const struct wait_for *wait);

/**
 * End the wait: restore the signal mask and descriptors. A signal that comes at the last moment is in
 * @watch->signal.
 */
void watch_done(struct watch *watch);

/**
 * Wait until @fd is ready for @events (-1: no descriptor), or until @until.
 *
 * Returns 1 if it is ready; 0 if @until or the deadline passed; -EINTR if a signal came.
 */
int watch_poll(struct watch *watch, int fd, short events, uint64_t until);

/**
 * Handle an attempt that the deadline has cut short: if no attempt has failed before, the failure is @why.
 * Returns -EAGAIN.
 */
int watch_cut_short(struct watch *watch, const char *why);
