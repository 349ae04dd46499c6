// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * A time limit that several runs share: a file that records how long they have run.
 *
 * Time counts while at least one run is active: two runs at the same time count once, and time
 * without a run does not count. Every second and when it ends, a run adds the time since the last
 * entry of any run, but not more than since its own. So if a run is killed, all but its last second
 * is counted.
 *
 * The file is locked while it is read and written. Its lines:
 *
 *     distrun budget 1
 *     limit 5000                 milliseconds; from the last run that set a limit
 *     used 1234                  milliseconds
 *     at 1795291200123           the time of the last entry, in milliseconds since 1970
 */

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/** Time between two entries of a run, in milliseconds. */
#define BUDGET_BEAT_MS 1000

struct budget {
	/** Absolute path. NULL: no file, the limit is only for this run. */
	const char *path;
	/** In milliseconds. */
	uint64_t limit_ms;
	/** The time used by all runs, as of the last entry. */
	uint64_t used_ms;
	/** The time used by others before this run began. */
	uint64_t used_before_ms;
	/** This run has begun, so its time counts. */
	bool joined;
	/** In milliseconds: when its last entry was, on the monotonic clock, and the time used by then. */
	uint64_t entered_at;
	uint64_t entered_ms;
};

/**
 * Read the file @path, which may not exist yet. Call this before any wait. @limit_ms: 0 uses the
 * file's limit. Returns 0, with `limit_ms`, `used_ms`; -EINVAL if the file is not a budget, or
 * there is no limit; or the negative errno of what failed.
 */
int budget_open(struct budget *budget, struct arena *arena, const char *path, uint64_t limit_ms,
		struct err *err);

/** Whether the budget is used up. */
static inline bool budget_is_used_up(const struct budget *budget) {
	return budget->used_ms >= budget->limit_ms;
}

/** This run begins. Returns 0, also without joining a used-up budget; or a negative errno. */
int budget_join(struct budget *budget, struct err *err);

/** Make an entry. If that fails, the next one tries again; `used_ms` follows the clock meanwhile. */
void budget_beat(struct budget *budget);

/** This run has ended. Returns 0; or a negative errno: the time since the last entry is not counted. */
int budget_leave(struct budget *budget, struct err *err);
