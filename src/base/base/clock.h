// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Points in time, in milliseconds on the monotonic clock, and the time left until one of them. */

#include <limits.h>
#include <stdint.h>
#include <time.h>

/** A time that never comes, and a duration that never ends. */
#define CLOCK_NEVER UINT64_MAX

/**
 * Milliseconds on the monotonic clock. The C library reads it from the vDSO, without a system call that a
 * sandbox could refuse.
 */
uint64_t clock_now_ms(void);

/** Milliseconds since 1970, for people and other machines. The clock may be set, so that it jumps. */
uint64_t clock_wall_ms(void);

/** Convert @ms to the kernel's form. */
static inline struct timespec clock_timespec(uint64_t ms) {
	return (struct timespec){.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
}

/** The time @ms after @now; CLOCK_NEVER if that would overflow. */
static inline uint64_t clock_after(uint64_t now, uint64_t ms) {
	return ms < CLOCK_NEVER - now ? now + ms : CLOCK_NEVER;
}

static inline uint64_t clock_earlier(uint64_t a, uint64_t b) {
	return a < b ? a : b;
}

/** Milliseconds from @now until @then; 0 if @then is in the past. */
static inline uint64_t clock_left(uint64_t now, uint64_t then) {
	return then > now ? then - now : 0;
}

/** The same as a timeout for poll(): at most INT_MAX (24 days), after which the caller polls again. */
static inline int clock_poll(uint64_t now, uint64_t then) {
	uint64_t left = clock_left(now, then);
	return left < INT_MAX ? (int)left : INT_MAX;
}
