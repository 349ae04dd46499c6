// SPDX-License-Identifier: Apache-2.0

#include "net/backoff.h"

struct backoff backoff_begin(uint64_t seed) {
	return (struct backoff){.random = seed, .limit_ms = BACKOFF_FIRST_MS};
}

/** The next number of a random sequence (splitmix64, which also works with similar seeds). */
static uint64_t next_random(uint64_t *state) {
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

uint32_t backoff_next_ms(struct backoff *backoff) {
	uint32_t limit = backoff->limit_ms;
	backoff->limit_ms = limit < BACKOFF_LAST_MS / 2 ? limit * 2 : BACKOFF_LAST_MS;
	return limit - (uint32_t)(next_random(&backoff->random) % (limit / 2));
}
