// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * A time limit that several runs share. A file records how long they have run.
 *
 * Time counts while at least one run is active: if two runs overlap, the overlap counts once. Every second,
 * and when it ends, a run makes an entry: it adds the time since the last entry of any run, but not more
 * than the time since its own last entry. If a run is killed, at most its last second is not counted.
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
	/** An absolute path; NULL: there is no file, and the limit is for this run only. */
	const char *path;
	uint64_t limit_ms;
	/** The time that all runs have used, at the last entry. */
	uint64_t used_ms;
	/** The time that other runs had used when this run began. */
	uint64_t used_before_ms;
	/** This run has begun, so its time counts. */
	bool joined;
	/** This run's last entry: when it was made, on clock_now_ms()'s clock, and `used_ms` at that time. */
	uint64_t entered_at;
	uint64_t entered_ms;
};

/**
 * Read the file @path, which need not exist; NULL: no file. Call this before any wait, so that the user
 * gets errors early. @limit_ms: 0 uses the file's limit. Sets `limit_ms` and `used_ms`.
 * Returns 0; -EINVAL if the file is not a budget file, or if there is no limit; or another negative errno.
 */
int budget_open(struct budget *budget, struct arena *arena, const char *path, uint64_t limit_ms,
		struct err *err);

/** Whether the budget is used up. */
static inline bool budget_is_used_up(const struct budget *budget) {
	return budget->used_ms >= budget->limit_ms;
}

/** Begin this run. If the budget is used up, do not join it. Returns 0 in both cases; or a negative errno. */
int budget_join(struct budget *budget, struct err *err);

/** Make an entry. If that fails, the next call makes up for it; until then, `used_ms` follows the clock. */
void budget_beat(struct budget *budget);

/**
 * End this run by a last entry. Returns 0; or a negative errno: the time since the previous entry is not
 * counted.
 */
int budget_leave(struct budget *budget, struct err *err);
