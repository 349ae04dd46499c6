// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The loop's system calls, made by syscall() and not by the C library's functions, because C libraries
 * reserve some signals for themselves: musl's sigfillset() leaves out 32 to 34, and 34 is RTMIN to other
 * programs. With it, signal 34 would kill us, and a mask would lose three bits.
 */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define INLINE static inline

/** Make a system call. Returns its result: a negative errno on failure. */
INLINE long kernel(long number, long a, long b, long c, long d) {
	long r = syscall(number, a, b, c, d);
	return r < 0 ? -errno : r;
}

_Static_assert(sizeof(long) == sizeof(void *) && sizeof(time_t) == sizeof(long),
	       "the kernel's pointers and times have the C library's size");

/** Bit N-1 stands for signal N. */
typedef uint64_t signal_set;

#define ALL_SIGNALS UINT64_MAX

INLINE signal_set signal_bit(int signal) {
	return (signal_set)1 << (signal - 1);
}

/**
 * Set the mask of blocked signals. *@before, if @before is not NULL, gets the previous mask. Returns 0; or
 * a negative errno if a filter of system calls (seccomp) refuses it.
 */
INLINE int block_signals(signal_set set, signal_set *before) {
	return (int)kernel(SYS_rt_sigprocmask, SIG_SETMASK, (long)&set, (long)before, sizeof(set));
}

/** The signals that are pending and blocked. */
INLINE signal_set pending_signals(void) {
	signal_set set = 0;
	kernel(SYS_rt_sigpending, (long)&set, sizeof(set), 0, 0);
	return set;
}

/**
 * Wait for the next signal of @set. @timeout: NULL waits forever.
 * Returns its number; 0 at the timeout; or a negative errno: -EINTR if the wait was interrupted.
 */
INLINE int take_signal(signal_set set, siginfo_t *info, const struct timespec *timeout) {
	long r = kernel(SYS_rt_sigtimedwait, (long)&set, (long)info, (long)timeout, sizeof(set));
	return r == -EAGAIN ? 0 : (int)r;
}

/** kill(): returns 0 or a negative errno. */
INLINE int send_signal(pid_t to, int signal) {
	return (int)kernel(SYS_kill, to, signal, 0, 0);
}

/** waitpid(): returns a pid, 0 or a negative errno. */
INLINE pid_t reap_child(pid_t pid, int *status, int options) {
	return (pid_t)kernel(SYS_wait4, pid, (long)status, options, 0);
}

/**
 * Wait at most @ms milliseconds until @fd has one of @events, or has an error or end of file.
 * Returns the events that occurred; 0 at the timeout.
 */
INLINE int poll_one(int fd, int events, int ms) {
	struct pollfd one = {.fd = fd, .events = (short)events};
	struct timespec timeout = clock_timespec((uint64_t)ms);
	return kernel(SYS_ppoll, (long)&one, 1, (long)&timeout, 0) > 0 ? one.revents : 0;
}
