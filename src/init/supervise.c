// SPDX-License-Identifier: Apache-2.0

/**
 * The loop: sleep until a signal comes, and handle it. A timer runs only for a time limit or a
 * grace period.
 */

#include "exec/exec.h"
#include "init/supervisor.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

bool report(const struct init_plan *plan, enum init_event event, int a, int b) {
	return plan->event && plan->event(plan->watcher, event, a, b);
}

void handle_signal(struct supervisor *in, siginfo_t *info) {
	if (report(&in->plan, EVENT_SIGNAL, info->si_signo, 0)) {
		return;
	}
	if (info->si_signo == SIGCHLD) {
		reap(in);
		return;
	}
	// Caused by our own write to a pipe without a reader, or to a report that may not grow.
	if ((info->si_signo == SIGPIPE || info->si_signo == SIGXFSZ) && info->si_pid == in->self) {
		return;
	}
	if (in->ended) {
		leftovers_hurry(in, info->si_signo);
		return;
	}
	if (terminal_owns(in, info)) {
		why_told(in, info);
		terminal_obey(in, info->si_signo);
		return;
	}
	if (info->si_signo == SIGCONT && terminal_continue(in)) {
		return;
	}
	forward(in, info);
}

/** Sleep until a signal comes or the time @at. Returns whether a signal came. */
static bool sleep_until(uint64_t at, siginfo_t *info) {
	if (at == CLOCK_NEVER) {
		return take_signal(ALL_SIGNALS, info, NULL) > 0;
	}
	struct timespec timeout = clock_timespec(clock_left(clock_now_ms(), at));
	return take_signal(ALL_SIGNALS, info, &timeout) > 0;
}

static bool wait_until(struct supervisor *in, uint64_t at, siginfo_t *info) {
	return in->plan.beside ? beside_wait_until(in, at, info) : sleep_until(at, info);
}

/** Handle what is beside the workload. Returns whether the loop must go on for it. */
static bool wake_beside(struct supervisor *in) {
	return in->plan.beside && beside_wake(in);
}

static void supervise(struct supervisor *in) {
	siginfo_t info = {0};
	do {
		if (wait_until(in, ending_next(in), &info)) {
			handle_signal(in, &info);
		}
	} while (wake_beside(in) || !ending_step(in));
}

/** A sandbox may refuse what the loop lives on. Without it, it would spin, or no time limit would end. */
static int check_loop(struct err *err) {
	siginfo_t info;
	struct timespec now;
	int r = take_signal(0, &info, &(struct timespec){0});
	if (r < 0 && r != -EINTR) {
		return err_set(
			err, EPERM,
			"staying as the command's parent needs the system call rt_sigtimedwait, which a "
			"filter (seccomp) refuses");
	}
	if (clock_gettime(CLOCK_MONOTONIC, &now) < 0) {
		return err_set(err, EPERM,
			       "staying as the command's parent needs a clock, and a filter of system calls "
			       "(seccomp) refuses clock_gettime");
	}
	return 0;
}

int init_hold_signals(struct init_plan *plan, struct err *err) {
	if (plan->holds_signals) {
		return 0;
	}
	if (check_loop(err) < 0) {
		return -EPERM;
	}
	int r = block_signals(ALL_SIGNALS, &plan->inherited_mask);
	if (r < 0) {
		return err_set(
			err, -r,
			"the signals cannot be blocked, which staying as the command's parent needs: %s; "
			"a filter of system calls (seccomp) refuses rt_sigprocmask",
			strerror(-r));
	}
	plan->holds_signals = true;
	return 0;
}

/** Become who orphans fall to. Where that fails, what the command leaves behind is out of reach. */
static void become_subreaper(const struct supervisor *in) {
	if (in->self == 1 || in->plan.no_subreaper || prctl(PR_SET_CHILD_SUBREAPER, 1UL) == 0) {
		return;
	}
	say(in, LOG_WARN, "orphans of the command are not reaped%s: PR_SET_CHILD_SUBREAPER fails: %s",
	    in->plan.leftovers == LEFTOVERS_END ? ", and not ended when it has ended" : "", strerror(errno));
}

/**
 * Close the way into this process for others of the same user, the workload among them: its sockets
 * by pidfd_getfd(), its memory by ptrace(). The child has our memory until execve(), which makes it
 * accessible again.
 */
static void shut_out_others(const struct supervisor *in) {
	if (prctl(PR_SET_DUMPABLE, 0UL) < 0 && in->plan.beside) {
		say(in, LOG_WARN,
		    "processes of the same user can take the sockets to the other nodes: "
		    "PR_SET_DUMPABLE fails: %s",
		    strerror(errno));
	}
}

int init_run(struct arena *arena, const struct init_plan *plan, struct err *err) {
	// First of all: signals that arrive from here on stay pending until they can be forwarded.
	struct supervisor in;
	memset(&in, 0, offsetof(struct supervisor, asked));
	in.plan = *plan;
	in.kill_at = in.look_at = in.told.at = CLOCK_NEVER;
	int r = init_hold_signals(&in.plan, err);
	if (r < 0) {
		return EXIT_OURS;
	}
	in.name = plan->argv[0];
	in.self = getpid();
	in.terminal = terminal_look(plan);
	if (in.plan.leftovers == LEFTOVERS_AUTO) {
		// The first process of a container that shares somebody's PID namespace has no parent there.
		in.plan.leftovers = in.self == 1 || getppid() == 0 ? LEFTOVERS_END : LEFTOVERS_LEAVE;
	}
	become_subreaper(&in);
	shut_out_others(&in);

	int status;
	why_begin(&in, arena);
	in.child = start_workload(arena, &in.plan, &in.terminal, &status, err);
	if (in.child < 0) {
		return status;
	}
	in.limit_at = clock_after(in.started_at, plan->time_limit_ms);
	leave_places(plan);
	report(plan, EVENT_STARTED, in.child, 0);
	tell_started(&in);
	if (plan->beside) {
		beside_begin(&in);
	}
	supervise(&in);
	terminal_leave(&in.terminal, in.child);
	return workload_status(&in);
}
