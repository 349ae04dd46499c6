// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * How long to pause before the next attempt: between half of a limit and all of it, at random. The limit doubles, up to a last one.
 *
 * Thousands of processes of a job begin within the same second. Whatever they all do after a fixed pause, they do all at once, again
 * and again; pauses at random spread them evenly. Pauses from nothing to the limit would spread no better and make half as many
 * attempts again ("./dev bench --only=stampede").
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

/** The next pause, in milliseconds. */
uint32_t backoff_next_ms(struct backoff *backoff);
