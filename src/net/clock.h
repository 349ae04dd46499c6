// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Points in time on the monotonic clock, in milliseconds, and the time left until one of them. */

#include <limits.h>
#include <stdint.h>
#include <time.h>

static inline uint64_t clock_now_ms(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/** The time @ms after @now; UINT64_MAX if that would overflow. */
static inline uint64_t clock_after(uint64_t now, uint64_t ms) {
	return ms < UINT64_MAX - now ? now + ms : UINT64_MAX;
}

static inline uint64_t clock_earlier(uint64_t a, uint64_t b) {
	return a < b ? a : b;
}

/** Milliseconds from @now until @then; 0 if that is in the past. */
static inline uint64_t clock_left(uint64_t now, uint64_t then) {
	return then > now ? then - now : 0;
}

/** The same for poll(), which takes at most 24 days; the caller then polls again. */
static inline int clock_poll(uint64_t now, uint64_t then) {
	uint64_t left = clock_left(now, then);
	return left < INT_MAX ? (int)left : INT_MAX;
}
