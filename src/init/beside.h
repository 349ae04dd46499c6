// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * What a program handles beside its workload, in the same loop: a child of its own and that child's
 * output, connections, a clock.
 *
 * These functions are called with all signals blocked. They must not block for long and must not
 * reap children. The working directory is "/" when they are called.
 */

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define BESIDE_FDS 2

/** The number of processes that were killed for memory is not known: no cgroup counts them. */
#define OOM_UNKNOWN UINT32_MAX
#define OOM_TEXT    "; processes that the kernel killed for lack of memory: %u"

/** How the workload has ended. */
struct workload_end {
	/** What init_run() will return. */
	int status;
	/** The signal that killed it; 0: it exited, with `exit_status`. */
	int killed_by;
	int exit_status;
	/** It dumped core. */
	bool core;
	/**
	 * How many processes of its cgroup the kernel killed for lack of memory while it ran, or
	 * OOM_UNKNOWN. These may be its children.
	 */
	uint32_t oom_kills;
	/** How long it ran. */
	uint64_t ran_ms;
	/** The same as a clause: "exit status 1, 0.2s after SIGTERM from pid 7". */
	char text[160];
};

struct beside {
	/** Descriptors to poll, close-on-exec; negative: none. */
	struct pollfd fds[BESIDE_FDS];
	/**
	 * Another descriptor, or -1. When the workload has started, the close-on-exec ones up to the
	 * highest of these stay open: they are ours. Inherited descriptors are not close-on-exec.
	 */
	int kept;
	/** When to call wake() even if nothing has happened, on clock_now_ms()'s clock, or CLOCK_NEVER. */
	uint64_t due_at;

	/** The workload has started. */
	void (*started)(struct beside *beside);
	/**
	 * A child other than the workload has ended with @status (from waitpid()) and was reaped.
	 * It may be an adopted orphan.
	 */
	void (*reaped)(struct beside *beside, pid_t pid, int status);
	/** The workload has ended. @end is valid until init_run() returns. */
	void (*ended)(struct beside *beside, const struct workload_end *end);
	/** Something has happened, or `due_at` is reached. */
	void (*wake)(struct beside *beside);

	// Set by these functions.

	/**
	 * Signals to handle as if they had been sent to us, for the workload: bit N-1 stands for
	 * signal N. The loop clears them.
	 */
	uint64_t signals;
	/**
	 * The workload has to end: acts like the plan's time limit, but prints nothing. The loop
	 * clears it.
	 */
	bool limit;
	/**
	 * The status to exit with in place of the workload's, before it is remapped; 0: the
	 * workload's. If it is set, `limit` is not a time limit.
	 */
	int status;
	/**
	 * A line to print, as a warning or, with `last_words`, as an error; NULL: none. Last words
	 * go to the termination log, too. The loop clears it.
	 */
	const char *words;
	bool last_words;
	/**
	 * The loop must go on although the workload has ended. Leftovers have to wait meanwhile.
	 */
	bool busy;

	/** Set by the loop. */
	const struct supervisor *supervisor;
};

/**
 * How many processes of the workload's cgroup the kernel has killed for lack of memory since it was
 * started, or OOM_UNKNOWN. For functions that the loop calls.
 */
uint32_t beside_oom_kills(const struct beside *beside);
