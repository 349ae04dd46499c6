// SPDX-License-Identifier: Apache-2.0

#include "net/watch.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

/** The signals that people and managers use to end a process. */
static const int ending[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

/**
 * Change the signal mask by the 64 bits of @set. A system call, because the C library's function skips its
 * own signals.
 */
static void change_mask(int how, uint64_t set, uint64_t *old) {
	syscall(SYS_rt_sigprocmask, how, &set, old, sizeof(set));
}

static uint64_t bit_of(int signal) {
	return (uint64_t)1 << (signal - 1);
}

static bool is_pending(int signal) {
	sigset_t pending;
	return sigpending(&pending) == 0 && sigismember(&pending, signal) == 1;
}

/** The signals to watch: not those ignored on purpose (nohup, a shell's background job). */
static uint64_t watched_signals(sigset_t *set) {
	uint64_t bits = 0;
	sigemptyset(set);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++) {
		struct sigaction action;
		if (sigaction(ending[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN) {
			sigaddset(set, ending[i]);
			bits |= bit_of(ending[i]);
		}
	}
	return bits;
}

static uint64_t or_default(uint64_t ms) {
	return ms ? ms : WAIT_PROGRESS_MS;
}

/** When to call progress() next, if it was called @now. */
static uint64_t next_progress(const struct watch *watch, uint64_t now) {
	uint64_t every = or_default(watch->wait->progress_ms), waited = now - watch->started;
	return clock_after(now, every - waited % every);
}

int watch_begin(struct watch *watch, const struct wait_for *wait) {
	sigset_t set;
	uint64_t bits = watched_signals(&set);
	uint64_t now = clock_now_ms();
	*watch = (struct watch){
		.wait = wait,
		.started = now,
		.deadline = clock_after(now, wait->timeout_ms),
		.next_progress = clock_after(now, or_default(wait->progress_first_ms)),
		.child_pending = is_pending(SIGCHLD),
	};
	watch->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (watch->signal_fd < 0) {
		return err_set(&watch->failure, errno, "signals cannot be watched: %s", strerror(errno));
	}
	// A blocked signal stays pending until it is read, even in PID 1, where the kernel would
	// otherwise drop it.
	change_mask(SIG_BLOCK, bits, &watch->mask);
	return 0;
}

/** Read the signal that came, if any. Returns 0; -EINTR. */
static int take_signal(struct watch *watch) {
	struct signalfd_siginfo info;
	if (watch->signal == 0 && read(watch->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		watch->signal = (int)info.ssi_signo;
	}
	return watch->signal ? -EINTR : 0;
}

/**
 * If SIGCHLD was blocked before, our child's stays pending: drop it, because the workload must not get it.
 */
static void drop_child_signal(const struct watch *watch) {
	const uint64_t child = bit_of(SIGCHLD);
	static struct timespec at_once;
	if ((watch->mask & child) && !watch->child_pending && is_pending(SIGCHLD)) {
		syscall(SYS_rt_sigtimedwait, &child, NULL, &at_once, sizeof(child));
	}
}

void watch_done(struct watch *watch) {
	take_signal(watch);
	close(watch->signal_fd);
	drop_child_signal(watch);
	change_mask(SIG_SETMASK, watch->mask, NULL);
}

int watch_poll(struct watch *watch, int fd, short events, uint64_t until) {
	until = clock_earlier(until, watch->deadline);
	for (;;) {
		struct pollfd fds[] = {{.fd = watch->signal_fd, .events = POLLIN},
				       {.fd = fd, .events = events}};
		uint64_t now = clock_now_ms();
		int n = poll(fds, 2, clock_poll(now, clock_earlier(until, watch->next_progress)));
		if (n > 0 && fds[0].revents && take_signal(watch) < 0) {
			return -EINTR;
		}
		if (n > 0 && fds[1].revents) {
			return 1;
		}
		now = clock_now_ms();
		if (now >= until) {
			return 0;
		}
		if (now >= watch->next_progress) {
			watch->next_progress = next_progress(watch, now);
			if (watch->wait->progress) {
				watch->wait->progress(watch->wait->context, now - watch->started,
						      watch->failure.text);
			}
		}
	}
}

int watch_cut_short(struct watch *watch, const char *why) {
	return watch->failure.text[0] ? -EAGAIN : err_set(&watch->failure, EAGAIN, "%s", why);
}
