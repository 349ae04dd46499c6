// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Signals as the kernel knows them, all 64. C libraries keep some for themselves: sigfillset() of musl leaves out 32 to 34, and 34 is the
 * first that other programs see as RTMIN; it would kill us, and a mask that goes through such functions loses these bits.
 */

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/** Bit N-1 stands for signal N. */
typedef uint64_t signal_set;

#define ALL_SIGNALS UINT64_MAX

static inline signal_set signal_bit(int signal) {
	return (signal_set)1 << (signal - 1);
}

/** Set the mask of blocked signals and return what it was. This cannot fail. */
static inline signal_set block_signals(signal_set set) {
	signal_set before = 0;
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &set, &before, sizeof(set));
	return before;
}

/** Signals that have arrived and are blocked. */
static inline signal_set pending_signals(void) {
	signal_set set = 0;
	syscall(SYS_rt_sigpending, &set, sizeof(set));
	return set;
}

/**
 * Take the next signal of @set. @timeout: NULL to wait for ever.
 * Returns its number; 0 where none came in time; -1 where the wait was disturbed.
 */
static inline int take_signal(signal_set set, siginfo_t *info, const struct timespec *timeout) {
	long r = syscall(SYS_rt_sigtimedwait, &set, info, timeout, sizeof(set));
	return r > 0 ? (int)r : errno == EAGAIN ? 0 : -1;
}

/** Milliseconds on a clock that nobody sets. */
static inline uint64_t now_ms(void) {
	struct timespec now = {0};
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}
