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
#include <unistd.h>

static void handle_signal(struct supervisor *in, siginfo_t *info) {
	if (observe(in->plan.observer, EVENT_SIGNAL, info->si_signo, 0)) {
		why_told(in, info);
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
	if (forward(in, info)) {
		ending_begin(in);
	}
}

/** When the loop has something to do, without a signal. */
static uint64_t next_step(const struct supervisor *in) {
	return clock_earlier(in->kill_at, in->ended ? in->look_at : in->limit_at);
}

/** Sleep until a signal comes, the time @at, or something beside. Returns whether a signal came. */
static bool wait_until(struct supervisor *in, uint64_t at, siginfo_t *info) {
	struct timespec timeout = {0};
	bool polls = observer_polls(in->plan.observer), never = !polls && at == CLOCK_NEVER;
	if (polls) {
		observer_wait_until(in, at);
	} else if (!never) {
		timeout = clock_timespec(clock_left(clock_now_ms(), at));
	}
	return take_signal(ALL_SIGNALS, info, never ? NULL : &timeout) > 0;
}

/** Do what the observer asks for. Returns whether the loop must go on for it. */
static bool obey(struct supervisor *in, struct observer *o) {
	for (int signal = 1; o->signals; signal++) {
		if (o->signals & signal_bit(signal)) {
			siginfo_t info = {.si_signo = signal, .si_code = SI_USER};
			o->signals &= ~signal_bit(signal);
			// These signals are for the workload. One that comes after its end does not
			// shorten the wait for leftovers.
			if (!in->ended) {
				handle_signal(in, &info);
			}
		}
	}
	if (o->limit && !in->ended) {
		ending_by_limit(in);
	}
	o->limit = false;
	return o->busy;
}

/** Do what is due. Returns whether everything is over. */
static bool step(struct supervisor *in) {
	if (!in->ended) {
		ending_step(in);
		return false;
	}
	if (in->kept && !in->plan.observer->again) {
		say_kept(in);
	}
	return leftovers_step(in);
}

static void supervise(struct supervisor *in) {
	siginfo_t info = {0};
	do {
		if (wait_until(in, next_step(in), &info)) {
			handle_signal(in, &info);
		}
		observer_wake(in);
	} while (obey(in, in->plan.observer) || !step(in));
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
	int r = block_signals(ALL_SIGNALS, &plan->inherited_mask);
	if (r < 0) {
		return err_set(
			err, -r,
			"the signals cannot be blocked, which staying as the command's parent needs: %s; "
			"a filter of system calls (seccomp) refuses rt_sigprocmask",
			strerror(-r));
	}
	if (check_loop(err) < 0) {
		return -EPERM;
	}
	// If SIGCHLD is ignored, the kernel reaps children itself, and we would get no status.
	sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &plan->child_action);
	plan->holds_signals = true;
	return 0;
}

/** Become the subreaper. Where that fails, what the command leaves behind is out of reach. */
static void become_subreaper(const struct supervisor *in) {
	if (in->self == 1 || in->plan.no_subreaper || prctl(PR_SET_CHILD_SUBREAPER, 1UL) == 0) {
		return;
	}
	say(in, LOG_WARN, "orphans of the command are not reaped%s: PR_SET_CHILD_SUBREAPER fails: %s",
	    in->plan.leftovers == LEFTOVERS_END ? ", and not ended when it has ended" : "", strerror(errno));
}

/**
 * If there is something to protect, make this process undumpable, so that processes of the same user, the workload among
 * them, can neither take its sockets (pidfd_getfd()) nor read its memory (ptrace()). Otherwise it stays as it is: scripts
 * write to /proc/1/fd/1, which is closed even to root in a container then. The child has our memory until execve(), which
 * makes it accessible again.
 */
static void shut_out_others(const struct supervisor *in) {
	if ((in->plan.observer->connected || in->plan.has_secret) && prctl(PR_SET_DUMPABLE, 0UL) < 0) {
		say(in, LOG_WARN,
		    "processes of the same user can take the sockets to the other nodes, and read the "
		    "secret: "
		    "PR_SET_DUMPABLE fails: %s",
		    strerror(errno));
	}
}

/** What is done once, before the first start. */
static void become_parent(struct supervisor *in) {
	if (in->plan.leftovers == LEFTOVERS_AUTO) {
		// The first process of a container that shares somebody's PID namespace has no parent there.
		in->plan.leftovers = in->self == 1 || getppid() == 0 ? LEFTOVERS_END : LEFTOVERS_LEAVE;
	}
	become_subreaper(in);
	shut_out_others(in);
}

/** A start begins: nothing of another one is left in @in. */
static void begin_start(struct supervisor *in) {
	const size_t first = offsetof(struct supervisor, child);
	memset((char *)in + first, 0, sizeof(*in) - first);
	in->limit_at = in->kill_at = in->look_at = in->told.at = CLOCK_NEVER;
	in->plan.observer->end = NULL;
	in->terminal = terminal_look(&in->plan);
}

/** Drop the signals that came between two starts: they would be new to a program that does not handle them yet. */
static void drop_signals(void) {
	const signal_set ends = signal_bit(SIGHUP) | signal_bit(SIGINT) | signal_bit(SIGQUIT) |
				signal_bit(SIGTERM) | signal_bit(SIGCHLD);
	siginfo_t info;
	while (take_signal(~ends, &info, &(struct timespec){0}) > 0) {
	}
}

/** One start of the workload, to its end. Returns as init_run(). */
static int run_start(struct supervisor *in, struct arena *arena, struct err *err) {
	struct kept_words kept = {.len = 0};
	int status;
	begin_start(in);
	in->kept = in->plan.restarts ? &kept : NULL;
	why_begin(in, arena);
	if (in->plan.restarts && leftovers_prepare(in, err) < 0) {
		return EXIT_OURS;
	}
	if (in->plan.is_restart) {
		drop_signals();
	}
	in->child = start_workload(in, arena, &status, err);
	if (in->child < 0) {
		return status;
	}
	in->limit_at =
		clock_after(in->plan.is_restart ? in->plan.first_at : in->started_at, in->plan.time_limit_ms);
	if (!in->plan.restarts) {
		leave_places(in->plan.observer);
	}
	observe(in->plan.observer, EVENT_STARTED, in->child, 0);
	tell_started(in);
	supervise(in);
	terminal_leave(&in->terminal, in->child);
	if (in->plan.observer->again && in->stuck[0]) {
		err_set(err, EBUSY,
			"%s cannot be started again: it left processes behind that cannot be killed: %s",
			in->name, in->stuck);
		return EXIT_OURS;
	}
	return workload_status(in);
}

int init_run(struct arena *arena, const struct init_plan *plan, struct err *err) {
	// First of all: signals that arrive from here on stay pending until they can be forwarded.
	struct supervisor in;
	memset(&in, 0, sizeof(in));
	in.plan = *plan;
	int r = init_hold_signals(&in.plan, err);
	if (r < 0) {
		return EXIT_OURS;
	}
	in.nobody = (struct observer)OBSERVER_NONE;
	in.plan.observer = plan->observer ? plan->observer : &in.nobody;
	in.plan.observer->supervisor = &in;
	in.name = plan->argv[0];
	in.self = getpid();
	in.signal_fd = -1;
	become_parent(&in);
	int status = run_start(&in, arena, err);
	leftovers_done(&in);
	if (in.signal_fd >= 0) {
		close(in.signal_fd);
	}
	return status;
}
