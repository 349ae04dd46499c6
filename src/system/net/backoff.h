// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Chooses the pause before the next attempt: a random time between half of a limit and the limit. The limit
 * doubles each time, up to a maximum.
 *
 * Thousands of processes of a job start within the same second. With fixed pauses, all of them
 * would try again at the same moment, again and again. Random pauses spread the attempts evenly.
 * Pauses between zero and the limit would not spread them better, but cause 50 % more attempts
 * ("./dev bench --only=stampede").
 */

#include <stdint.h>

/** The first limit, and the largest, in milliseconds. */
#define BACKOFF_FIRST_MS 100
#define BACKOFF_LAST_MS	 2000

struct backoff {
	/** State of the random numbers. */
	uint64_t random;
	/** The upper limit of the next pause. */
	uint32_t limit_ms;
};

/** Start with @seed, which must differ between processes. */
struct backoff backoff_begin(uint64_t seed);

/** The next pause, in milliseconds. */
uint32_t backoff_next_ms(struct backoff *backoff);
