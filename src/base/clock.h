// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Points in time, in milliseconds on the monotonic clock, and the time left until one of them. */

#include <limits.h>
#include <stdint.h>
#include <time.h>

/** A time that never comes, and a duration that never ends. */
#define CLOCK_NEVER UINT64_MAX

/** The C library reads it from the vDSO, and so without a system call, which a sandbox may refuse. */
uint64_t clock_now_ms(void);

/** Milliseconds since 1970, for people and other machines. It may be set, and jump. */
uint64_t clock_wall_ms(void);

/** @ms as the kernel takes it. */
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

/** Milliseconds from @now until @then; 0 if that is in the past. */
static inline uint64_t clock_left(uint64_t now, uint64_t then) {
	return then > now ? then - now : 0;
}

/** The same for poll(), which takes at most 24 days; the caller then polls again. */
static inline int clock_poll(uint64_t now, uint64_t then) {
	uint64_t left = clock_left(now, then);
	return left < INT_MAX ? (int)left : INT_MAX;
}
