// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Waits until the master is up: looks its name up, then tries its port, again and again, until that succeeds,
 * the deadline passes, or a signal ends the wait.
 *
 * Afterwards, the process has the same signal mask, signal dispositions and file descriptors as
 * before, and no child is left.
 */

#include "base/err.h"

#include <stdint.h>

/**
 * How often wait_until_up() reports that it is still waiting, in milliseconds, by default. A test program has
 * less.
 */
#ifndef WAIT_PROGRESS_MS
#define WAIT_PROGRESS_MS 10000
#endif

struct addresses;

struct wait_for {
	/** A name, or a bare address. */
	const char *host;
	/** In host byte order; 0: the wait ends when the name resolves. */
	uint16_t port;
	/** The time-out, from the call on. */
	uint64_t timeout_ms;
	/**
	 * Called after progress_first_ms, and then at each multiple of progress_ms; or NULL. @failure is why
	 * the last attempt failed: a clause; "": none has failed.
	 */
	void (*progress)(void *context, uint64_t waited_ms, const char *failure);
	/** Called after each failed attempt, with the reason; or NULL. */
	void (*failed)(void *context, const char *failure);
	void *context;
	/** 0: WAIT_PROGRESS_MS. */
	uint64_t progress_first_ms;
	uint64_t progress_ms;
	/** Where to write the addresses of the name; or NULL. */
	struct addresses *found;
};

/** How a wait ended. */
struct wait_end {
	uint64_t waited_ms;
	/** The signal that ended the wait; 0: none. */
	int signal;
	/** Why the last attempt failed: a clause; empty: none failed. */
	struct err failure;
	/** All addresses of the name lead each node to itself. */
	bool loopback;
};

/**
 * Wait until @wait's host is up.
 *
 * SIGHUP, SIGINT, SIGQUIT and SIGTERM end the wait, even in PID 1, which ignores them by default. A signal
 * that was ignored before stays ignored. The kernel does not deliver the signal that ended the wait again;
 * the caller may raise it.
 *
 * Returns 0 once the host is up; -ETIMEDOUT; -EINTR if a signal ended the wait; or a negative errno
 * if the kernel refused an operation, with the reason in @end->failure. @end is always set.
 */
int wait_until_up(const struct wait_for *wait, struct wait_end *end);
