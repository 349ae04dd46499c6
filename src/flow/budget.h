// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * A time limit that several runs share: a file that says how long any of them has run.
 *
 * What counts is the time in which at least one of them runs: two at once count once, and the time between two does not count. Each run adds
 * what has passed since the last entry, when it begins, every second, and when it ends. So of a run that was killed all is counted but its
 * last second.
 *
 * The file is locked while it is read and written, and replaced as a whole. Its lines:
 *
 *     distrun budget 1
 *     limit 5000                 milliseconds: that of the last run that told one
 *     used 1234                  milliseconds
 *     at 1795291200123           when that was true, in milliseconds since 1970
 *     run PLACE PID START AT     for each run: the machine and PID namespace, the process and when it was started, by which a process is known
 *                                from a later one with its number, and its last entry
 */

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/** How often a run makes an entry, in milliseconds. */
#define BUDGET_BEAT_MS 1000

struct budget {
	/** Absolute. NULL: no file, the limit is this run's alone. */
	const char *path;
	/** In milliseconds. */
	uint64_t limit_ms;
	/** What was used, by all runs, as of the last entry. */
	uint64_t used_ms;
	/** What others had used when this run began. */
	uint64_t used_before_ms;
	/** This run, as in its line: "PLACE PID START". */
	const char *run;
	/** Whether it is in the file. */
	bool joined;
	/** When its last entry was made, on the monotonic clock, and what was used by then. Both in milliseconds. */
	uint64_t entered_at;
	uint64_t entered_ms;
};

/**
 * Look at the file @path, which need not be there, before anything is waited for. @limit_ms: 0 takes the file's.
 * Returns 0, with `limit_ms`, `used_ms`; -EINVAL for a file that is none of ours, or no limit at all; or the negative errno of what failed.
 */
int budget_open(struct budget *budget, struct arena *arena, const char *path, uint64_t limit_ms,
		struct err *err);

/** Whether all is used up. */
static inline bool budget_is_used_up(const struct budget *budget) {
	return budget->used_ms >= budget->limit_ms;
}

/**
 * This run begins. Returns 0, also where all is used up by now: then it has not joined; or the negative errno of what failed.
 */
int budget_join(struct budget *budget, struct err *err);

/** This run goes on: make an entry. What fails is tried again with the next: `used_ms` then counts on by the clock. */
void budget_beat(struct budget *budget);

/** This run has ended. Returns 0; or the negative errno of what failed: it will count for a second at most. */
int budget_leave(struct budget *budget, struct err *err);
