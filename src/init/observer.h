// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * An observer learns what happens to the workload, and may handle something beside it in the same
 * loop: a child of its own and that child's output, connections, a clock.
 *
 * event() is called with all signals blocked. It must not block for long and must not reap children.
 * The working directory is "/" then, except at EVENT_CHILD and if nothing was started.
 */

#include "base/clock.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum init_event {
	/**
	 * In the child, before it becomes the workload. Return true if the child has its process group
	 * and its terminal.
	 */
	EVENT_CHILD,
	/** The workload has started: its pid. */
	EVENT_STARTED,
	/** A signal came: its number. Return true to drop it. */
	EVENT_SIGNAL,
	/** A signal was forwarded: its number, and the one that was sent; 0: none was sent. */
	EVENT_FORWARDED,
	/** A child, which may be an adopted orphan, was reaped: its pid, and its status from waitpid(). */
	EVENT_REAPED,
	/** The workload has ended: see `end`. */
	EVENT_ENDED,
	/** Something has happened, or `due_at` is reached. */
	EVENT_WAKE,
};

#define OBSERVER_FDS 2

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
	/** `status` before --map-exit. */
	int raw;
	/** That is 0, though nobody told it to end. */
	bool early;
	/** It was told to end: by INT, QUIT or TERM, of the terminal, too, or died of a HUP. Or by its time limit. */
	bool told, limited;
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

struct observer {
	/** Called for each event, with its two numbers; NULL: no calls. */
	bool (*event)(struct observer *observer, enum init_event event, int a, int b);

	// Set by event(), or before the start.

	/** Descriptors to poll, close-on-exec; negative: none. */
	struct pollfd fds[OBSERVER_FDS];
	/**
	 * Another descriptor, or -1. When the workload has started, the close-on-exec ones up to the
	 * highest of these stay open: they are ours. Inherited descriptors are not close-on-exec.
	 */
	int kept;
	/** It has connections which the workload, and others of the same user, must not take. */
	bool connected;
	/** When EVENT_WAKE comes even if nothing has happened, on clock_now_ms()'s clock, or CLOCK_NEVER. */
	uint64_t due_at;
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
	/** The workload is started again after this end (`restarts` of the plan). It may be taken back. */
	bool again;

	// Set by the loop.

	/** How the workload has ended; NULL: it has not. It is valid until init_run() returns. */
	const struct workload_end *end;
	const struct supervisor *supervisor;
};

/** One that gets no events, and handles nothing. */
#define OBSERVER_NONE \
	{ .fds = {{.fd = -1}, {.fd = -1}}, .kept = -1, .due_at = CLOCK_NEVER }

/**
 * Whether @signal was ignored when we were started. It is then ignored in the workload, too: our
 * parent wants the workload to survive it.
 */
bool was_ignored(int signal);

/** Tell @observer, if it is not NULL. Returns what it returns. */
static inline bool observe(struct observer *observer, enum init_event event, int a, int b) {
	return observer && observer->event && observer->event(observer, event, a, b);
}

/**
 * How many processes of the workload's cgroup the kernel has killed for lack of memory since it was
 * started, or OOM_UNKNOWN. For event().
 */
uint32_t observer_oom_kills(const struct observer *observer);
