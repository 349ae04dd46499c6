// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Is the rendezvous up yet? Its name is looked up, then its port is tried, again and again, until that succeeds, the time is over, or
 * a signal ends it.
 *
 * Afterwards the process is as it was before: its signal mask, its dispositions, its descriptors; no child is left.
 */

#include "base/err.h"

#include <stdint.h>

/** How often wait_until_up() says that it still waits, in milliseconds. */
#define WAIT_PROGRESS_MS 10000

struct wait_for {
	/** A name, or a bare address. */
	const char *host;
	/** In host byte order; 0: it is enough that the name resolves. */
	uint16_t port;
	/** How long, in milliseconds from the call on. */
	uint64_t timeout_ms;
	/** Called every WAIT_PROGRESS_MS with the time that was waited and why the last attempt failed: a clause, or "". NULL: nobody. */
	void (*progress)(void *context, uint64_t waited_ms, const char *failure);
	/** Called after each attempt that failed, with why. NULL: nobody. */
	void (*failed)(void *context, const char *failure);
	void *context;
};

/** How a wait ended. */
struct wait_end {
	uint64_t waited_ms;
	/** The signal that ended it, or 0. */
	int signal;
	/** Why the last attempt failed: a clause; empty if none did. */
	struct err failure;
};

/**
 * Wait until @wait's host is up.
 *
 * SIGHUP, SIGINT, SIGQUIT and SIGTERM end it, also in PID 1, whose default is to ignore them; one that was ignored before stays
 * ignored. The signal that ended it is taken: the caller may raise it again.
 *
 * Returns 0 once it is up; -ETIMEDOUT; -EINTR where a signal ended it; or the negative errno of what the kernel refused, which
 * @end->failure tells. @end is set in any case.
 */
int wait_until_up(const struct wait_for *wait, struct wait_end *end);
