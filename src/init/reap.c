// SPDX-License-Identifier: Apache-2.0

/**
 * Who has ended.
 *
 * With waitpid(), each orphan costs a call that walks all children that live: with many, it is quadratic. Linux can do better: SA_NOCLDWAIT
 * lets it reap all by itself, and since 6.15 the status of the one who counts is told through its pidfd (PIDFD_GET_INFO). Whether this
 * kernel can is seen from the first orphan, which is reaped both ways: no version is compared, and a workload without orphans pays nothing.
 */

#include "exec/exec.h"
#include "init/supervisor.h"

#include <sys/ioctl.h>
#include <sys/wait.h>

/** struct pidfd_info of linux/pidfd.h, as 6.15 has it; headers may be older. */
struct pidfd_status {
	uint64_t mask;
	uint64_t cgroup;
	uint32_t ids[11];
	int32_t exit_code;
};

_Static_assert(sizeof(struct pidfd_status) == 64, "its size is part of the request's number");

#define PIDFD_ASK_STATUS      _IOWR(0xFF, 11, struct pidfd_status)
#define PIDFD_STATUS_IS_THERE 8

/** Read the status of the process of @pidfd, which has been reaped. Returns whether the kernel knows it. */
RESIDENT static bool status_of(int pidfd, int *status) {
	struct pidfd_status info = {.mask = PIDFD_STATUS_IS_THERE};
	if (kernel(SYS_ioctl, pidfd, (long)PIDFD_ASK_STATUS, (long)&info, 0) < 0 ||
	    !(info.mask & PIDFD_STATUS_IS_THERE)) {
		return false;
	}
	*status = info.exit_code;
	return true;
}

static int open_pidfd(pid_t pid) {
	return (int)kernel(SYS_pidfd_open, pid, 0, 0, 0);
}

/** Take what waitpid() said. */
RESIDENT static void take_status(struct supervisor *in, pid_t pid, int status) {
	if (pid != in->child) {
		if (in->plan.beside) {
			in->plan.beside->reaped(in->plan.beside, pid, status);
		}
		return;
	}
	if (WIFSTOPPED(status)) {
		terminal_stopped(in, WSTOPSIG(status));
		return;
	}
	in->ended = true;
	in->status = status;
}

/** Reap until nobody is left to be reaped. */
RESIDENT static void reap_all(struct supervisor *in) {
	int options = WNOHANG | (in->terminal.fd >= 0 && !in->terminal.shared ? WUNTRACED : 0);
	int status = 0;
	pid_t pid;
	while ((pid = reap_child(-1, &status, options)) > 0) {
		take_status(in, pid, status);
	}
}

/** Let the kernel reap from now on. Those who have ended before are reaped here; nobody falls between the two. */
static void hand_to_kernel(struct supervisor *in) {
	int pidfd = open_pidfd(in->child);
	if (pidfd < 0) {
		return;
	}
	struct sigaction unwaited = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDWAIT};
	sigaction(SIGCHLD, &unwaited, NULL);
	in->pidfd = pidfd;
}

/** Reap @pid, an orphan that has ended, and find out whether the kernel could have done it. */
static void reap_first_orphan(struct supervisor *in, pid_t pid) {
	in->kernel_asked = true;
	int pidfd = in->plan.never_by_kernel ? -1 : open_pidfd(pid);
	int by_wait = 0, by_kernel = 0;
	bool same = reap_child(pid, &by_wait, WNOHANG) == pid && pidfd >= 0 && status_of(pidfd, &by_kernel) &&
		    by_wait == by_kernel;
	if (pidfd >= 0) {
		close(pidfd);
	}
	if (same && !in->ended) {
		hand_to_kernel(in);
	}
}

/** See whether the workload has ended, where the kernel reaps. */
RESIDENT static void ask_kernel(struct supervisor *in) {
	int status = EXIT_OURS << 8, ended = poll_one(in->pidfd, POLLIN, 0);
	if (!ended) {
		if (in->terminal.fd >= 0 && !in->terminal.shared &&
		    reap_child(in->child, &status, WNOHANG | WUNTRACED) == in->child) {
			take_status(in, in->child, status);
		}
		return;
	}
	// It has ended. The status is there once it is reaped, which is a moment later; under a debugger that may last, and then another
	// SIGCHLD follows.
	if (!(ended & POLLHUP) && !poll_one(in->pidfd, 0, 1000)) {
		return;
	}
	in->ended = true;
	if (!status_of(in->pidfd, &status)) {
		say(in, INIT_WARN, "the kernel has lost the exit status of %s", in->name);
	}
	in->status = status;
}

RESIDENT void reap(struct supervisor *in, const siginfo_t *info) {
	bool is_end =
		info->si_code == CLD_EXITED || info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED;
	if (in->pidfd >= 0) {
		if (!in->ended) {
			ask_kernel(in);
		}
		return;
	}
	// The one that the signal names, first: where many live, this finds it without a walk.
	int status;
	if (is_end && info->si_pid != in->child && info->si_pid > 0 && !in->plan.beside) {
		if (!in->kernel_asked) {
			reap_first_orphan(in, info->si_pid);
		} else {
			reap_child(info->si_pid, &status, WNOHANG);
		}
	}
	reap_all(in);
}
