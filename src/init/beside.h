// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * What a program looks after beside its workload, in the same loop: a child of its own, what that
 * says, and a clock.
 *
 * A plan without it costs a comparison here and there: all that it takes is reached through
 * beside_loop, so that a program which has no need of it, as distinit, does not have it in itself.
 *
 * The functions are called with all signals blocked, and must neither block for long nor reap
 * children. The folder is "/" by then.
 */

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define BESIDE_FDS 2

struct beside {
	/** &beside_loop. */
	const struct beside_loop *loop;
	/**
	 * To be polled, unless negative. Those that are open when the workload is started stay
	 * open; the workload does not get them if they are close-on-exec.
	 */
	struct pollfd fds[BESIDE_FDS];
	/** A descriptor that stays open likewise, and is not polled; or -1. */
	int kept;
	/**
	 * When step() is to be called although nothing has happened, on now_ms()'s clock; 0: never.
	 */
	uint64_t due_at;

	/** The workload was started. */
	void (*started)(struct beside *beside);
	/**
	 * A child other than the workload has ended with @status, as waitpid() tells it, and was
	 * reaped. It may be anybody's orphan.
	 */
	void (*reaped)(struct beside *beside, pid_t pid, int status);
	/** The workload has ended; @status is what init_run() is about to return. */
	void (*ended)(struct beside *beside, int status);
	/** Something has happened, or is due. */
	void (*step)(struct beside *beside);

	// What these functions ask for.

	/**
	 * Signals for the workload, as if they had been sent to us: bit N-1 stands for signal N.
	 * Cleared when it is done.
	 */
	uint64_t signals;
	/**
	 * The workload's time is over: as with the plan's time limit, but that nothing is said.
	 * Cleared when it is done.
	 */
	bool limit;
	/**
	 * Although the workload has ended, there is something to wait for. What the workload left
	 * behind waits too.
	 */
	bool busy;
};

extern const struct beside_loop beside_loop;
