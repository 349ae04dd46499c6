// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * How long to pause before the next attempt: at random between nothing and a limit, which doubles up to a highest one.
 *
 * Thousands of processes of a job begin within the same second. Whatever they all do after a fixed pause, they do all at once, again
 * and again; the whole pause at random spreads them evenly over it.
 */

#include <stdint.h>

/** The first limit, and the last, in milliseconds. */
#define BACKOFF_FIRST_MS 100
#define BACKOFF_LAST_MS	 2000

struct backoff {
	/** State of the random numbers. */
	uint64_t random;
	/** The next pause is at most so long. */
	uint32_t limit_ms;
};

/** Begin with @seed, which is another one in every process. */
struct backoff backoff_begin(uint64_t seed);

/** The next pause, in milliseconds, 1 to its limit. */
uint32_t backoff_next_ms(struct backoff *backoff);
