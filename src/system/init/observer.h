// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * An observer gets the events of the workload. In the same loop it may handle other things: a child of
 * its own and that child's output, connections, a deadline.
 *
 * The loop calls event() with all signals blocked. event() must not block for long and must not reap
 * children. Once the workload has started, the working directory is "/", except at EVENT_CHILD.
 */

#include "base/clock.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum init_event {
	/**
	 * In the child, before execve() of the workload. If event() has set the child's process group and
	 * terminal itself, it returns true.
	 */
	EVENT_CHILD,
	/** The workload has started. Numbers: its pid. */
	EVENT_STARTED,
	/** We got a signal. Numbers: the signal. To drop it, event() returns true. */
	EVENT_SIGNAL,
	/** A signal was forwarded. Numbers: the signal, and the signal sent instead; 0: it was dropped. */
	EVENT_FORWARDED,
	/**
	 * A child, which may be an adopted orphan, was reaped. Numbers: its pid, and its status from
	 * waitpid().
	 */
	EVENT_REAPED,
	/** The workload has ended: see `end`. */
	EVENT_ENDED,
	/** The loop has woken: for a signal, a descriptor of `fds`, or `due_at`. */
	EVENT_WAKE,
};

#define OBSERVER_FDS 2

/** It is not known how many processes the kernel killed for lack of memory, because no cgroup counts them. */
#define OOM_UNKNOWN UINT32_MAX
#define OOM_TEXT    "; processes that the kernel killed for lack of memory: %u"

/** How the workload has ended. */
struct workload_end {
	/** The status that init_run() will return. */
	int status;
	/** The signal that killed the workload; 0: it exited, with `exit_status`. */
	int killed_by;
	int exit_status;
	/** The workload dumped core. */
	bool core;
	/** `status` before --map-exit. */
	int raw;
	/** `raw` is 0, though the workload was not asked to end. */
	bool early;
	/** The workload was asked to end by INT, QUIT or TERM, also from the terminal, or was killed by HUP. */
	bool asked_to_end;
	/** The time limit was reached. */
	bool limited;
	/**
	 * How many processes of the workload's cgroup, such as its children, the kernel killed for lack of memory
	 * while it ran; or OOM_UNKNOWN.
	 */
	uint32_t oom_kills;
	/** How long the workload ran, in milliseconds. */
	uint64_t ran_ms;
	/** The end as a clause: "exit status 1, 0.2s after SIGTERM from pid 7". */
	char text[160];
};

struct observer {
	/** Called for each event, with up to two numbers; NULL: not called. */
	bool (*event)(struct observer *observer, enum init_event event, int a, int b);

	// Set by event(), or before the start.

	/** Descriptors to poll, close-on-exec; negative: none. */
	struct pollfd fds[OBSERVER_FDS];
	/**
	 * Another descriptor to keep open; -1: none. When the workload has started, we close the descriptors above
	 * 2, but keep those that are close-on-exec and not above the highest of `kept` and `fds`: inherited
	 * descriptors are not close-on-exec, so these are our own.
	 */
	int kept;
	/** The observer has connections that other processes of the same user must not take. */
	bool connected;
	/** When to send EVENT_WAKE at the latest, on clock_now_ms()'s clock; CLOCK_NEVER: no deadline. */
	uint64_t due_at;
	/** Signals to handle as if we had got them: bit N-1 stands for signal N. The loop clears this. */
	uint64_t signals;
	/** End the workload as at the plan's time limit, but print nothing. The loop clears this. */
	bool limit;
	/**
	 * The exit status in place of the workload's, before --map-exit; 0: the workload's. If it is set, `limit`
	 * does not count as the time limit.
	 */
	int status;
	/**
	 * A line to print as a warning; NULL: none. If `last_words` is set, it is an error, and also goes to the
	 * termination log; if `logged` is set, it is a warning that goes there, too. The loop clears `words`.
	 */
	const char *words;
	bool last_words, logged;
	/** The loop must go on although the workload has ended, and leaves leftovers alone meanwhile. */
	bool busy;
	/** The workload will be restarted after this end. The observer may clear this again. */
	bool again;

	// Set by the loop.

	/** How the workload has ended; NULL: it has not. Valid until init_run() returns. */
	const struct workload_end *end;
	const struct supervisor *supervisor;
};

/** An observer that gets no events and has no descriptors. */
#define OBSERVER_NONE \
	{ .fds = {{.fd = -1}, {.fd = -1}}, .kept = -1, .due_at = CLOCK_NEVER }

/**
 * Whether @signal was ignored when we were started. Then our parent wants the workload to survive the signal,
 * and the workload ignores it, too.
 */
bool was_ignored(int signal);

/** If there is an observer with event(), call it. Returns what event() returns; else false. */
static inline bool observe(struct observer *observer, enum init_event event, int a, int b) {
	return observer && observer->event && observer->event(observer, event, a, b);
}

/**
 * For event(): how many processes of the workload's cgroup the kernel has killed for lack of memory since the
 * workload was started; or OOM_UNKNOWN.
 */
uint32_t observer_oom_kills(const struct observer *observer);
