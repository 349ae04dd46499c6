// SPDX-License-Identifier: Apache-2.0

/**
 * The loop: sleep until a signal comes, and handle it. It has a timeout only for a time limit, a grace
 * period, leftovers or the observer.
 */

#include "exec/exec.h"
#include "init/supervisor.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void handle_signal(struct supervisor *in, siginfo_t *info) {
	if (observe(in->plan.observer, EVENT_SIGNAL, info->si_signo, 0)) {
		why_asked(in, info);
		return;
	}
	if (info->si_signo == SIGCHLD) {
		reap(in);
		return;
	}
	// Our own write has caused this signal: to a pipe without a reader, or to a report at its size limit.
	if ((info->si_signo == SIGPIPE || info->si_signo == SIGXFSZ) && info->si_pid == in->self) {
		return;
	}
	if (in->ended) {
		leftovers_hurry(in, info->si_signo);
		return;
	}
	if (terminal_owns(in, info)) {
		why_asked(in, info);
		terminal_handle(in, info->si_signo);
		return;
	}
	if (info->si_signo == SIGCONT && terminal_continue(in)) {
		return;
	}
	if (forward(in, info)) {
		ending_begin(in);
	}
}

/** When the loop has to act even without a signal; CLOCK_NEVER: never. */
static uint64_t next_step(const struct supervisor *in) {
	return clock_earlier(in->kill_at, in->ended ? in->look_at : in->limit_at);
}

/**
 * Sleep until a signal comes, the observer has something to do, or the time @at. Returns whether a signal
 * came.
 */
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

/** Do what the observer has requested. Returns whether the loop must go on for it. */
static bool do_requests(struct supervisor *in, struct observer *o) {
	for (int signal = 1; o->signals; signal++) {
		if (o->signals & signal_bit(signal)) {
			siginfo_t info = {.si_signo = signal, .si_code = SI_USER};
			o->signals &= ~signal_bit(signal);
			// These signals are for the workload. After its end they must not shorten the wait for
			// leftovers.
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

static void supervise(struct supervisor *in) {
	siginfo_t info = {0};
	for (;;) {
		if (wait_until(in, next_step(in), &info)) {
			handle_signal(in, &info);
		}
		observer_wake(in);
		if (do_requests(in, in->plan.observer)) {
			continue;
		}
		if (!in->ended) {
			ending_step(in);
			continue;
		}
		if (in->kept && !in->plan.observer->again) {
			say_kept(in);
		}
		if (leftovers_step(in)) {
			return;
		}
	}
}

/**
 * Check the calls that the loop needs, because seccomp may refuse them. Without rt_sigtimedwait the loop would spin,
 * and without clock_gettime no time limit would be reached.
 */
static int check_loop(struct err *err) {
	siginfo_t info;
	struct timespec now;
	int r = take_signal(0, &info, &(struct timespec){0});
	if (r < 0 && r != -EINTR) {
		return err_set(err, EPERM,
			       "staying as the command's parent needs rt_sigtimedwait, "
			       "and a filter of system calls (seccomp) refuses it");
	}
	if (clock_gettime(CLOCK_MONOTONIC, &now) < 0) {
		return err_set(err, EPERM,
			       "staying as the command's parent needs clock_gettime, "
			       "and a filter of system calls (seccomp) refuses it");
	}
	return 0;
}

int init_hold_signals(struct init_plan *plan, struct err *err) {
	if (plan->holds_signals) {
		return 0;
	}
	int r = block_signals(ALL_SIGNALS, &plan->inherited_mask);
	if (r < 0) {
		return err_set(err, -r,
			       "staying as the command's parent needs rt_sigprocmask, "
			       "and a filter of system calls (seccomp) refuses it: %s",
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

/**
 * Become the subreaper, so that orphans become our children. If that fails, warn that leftovers are out of
 * reach.
 */
static void become_subreaper(const struct supervisor *in) {
	if (in->self == 1 || in->plan.no_subreaper || prctl(PR_SET_CHILD_SUBREAPER, 1UL) == 0) {
		return;
	}
	say(in, LOG_WARN, "orphans of the command are not reaped%s: PR_SET_CHILD_SUBREAPER fails: %s",
	    in->plan.leftovers == LEFTOVERS_END ? ", and not ended when it has ended" : "", strerror(errno));
}

/**
 * If we have connections or a secret, make this process undumpable, so that processes of the same user, the workload
 * among them, can neither take our sockets (pidfd_getfd()) nor read our memory (ptrace()). Do this only then, because
 * even root in a container cannot write to /proc/1/fd/1 of an undumpable process, as some scripts do. The child is
 * undumpable until its execve().
 */
static void shut_out_others(const struct supervisor *in) {
	if ((in->plan.observer->connected || in->plan.has_secret) && prctl(PR_SET_DUMPABLE, 0UL) < 0) {
		say(in, LOG_WARN,
		    "processes of the same user can take the sockets to the other nodes, "
		    "and read the secret: PR_SET_DUMPABLE fails: %s",
		    strerror(errno));
	}
}

/** Prepare this process: choose what to do with leftovers, become the subreaper, shut out other processes. */
static void become_parent(struct supervisor *in) {
	if (in->plan.leftovers == LEFTOVERS_AUTO) {
		// If a container shares another PID namespace, the container's first process has no parent in it.
		in->plan.leftovers = in->self == 1 || getppid() == 0 ? LEFTOVERS_END : LEFTOVERS_LEAVE;
	}
	become_subreaper(in);
	shut_out_others(in);
}

/**
 * Drop the signals that came between two starts, except those that ask the workload to end: the restarted workload
 * would die of a signal that it does not handle yet.
 */
static void drop_signals(void) {
	const signal_set ends = signal_bit(SIGHUP) | signal_bit(SIGINT) | signal_bit(SIGQUIT) |
				signal_bit(SIGTERM) | signal_bit(SIGCHLD);
	siginfo_t info;
	while (take_signal(~ends, &info, &(struct timespec){0}) > 0) {
	}
}

int init_run(struct arena *arena, const struct init_plan *plan, struct err *err) {
	struct kept_words kept = {.len = 0};
	struct supervisor in;
	memset(&in, 0, sizeof(in));
	in.plan = *plan;
	if (init_hold_signals(&in.plan, err) < 0) {
		return EXIT_OURS;
	}
	in.nobody = (struct observer)OBSERVER_NONE;
	in.plan.observer = plan->observer ? plan->observer : &in.nobody;
	in.plan.observer->supervisor = &in;
	in.plan.observer->end = NULL;
	in.name = plan->argv[0];
	in.self = getpid();
	in.signal_fd = -1;
	become_parent(&in);
	in.limit_at = in.kill_at = in.look_at = in.asked.at = CLOCK_NEVER;
	in.terminal = terminal_look(plan);
	in.kept = plan->restarts ? &kept : NULL;
	why_begin(&in, arena);
	int status = EXIT_OURS;
	const bool starts = !plan->restarts || leftovers_prepare(&in, err) == 0;
	if (starts && plan->is_restart) {
		drop_signals();
	}
	if (starts) {
		in.child = start_workload(&in, arena, &status, err);
	}
	if (in.child > 0) {
		in.limit_at =
			clock_after(plan->is_restart ? plan->first_at : in.started_at, plan->time_limit_ms);
		if (!plan->restarts) {
			leave_places(in.plan.observer);
		}
		observe(in.plan.observer, EVENT_STARTED, in.child, 0);
		tell_started(&in);
		supervise(&in);
		terminal_leave(&in.terminal, in.child);
		status = workload_status(&in);
		if (in.plan.observer->again && in.stuck[0]) {
			err_set(err, EBUSY,
				"%s cannot be started again: it left processes behind that cannot be killed: %s",
				in.name, in.stuck);
			status = EXIT_OURS;
		}
	}
	leftovers_done(&in);
	if (in.signal_fd >= 0) {
		close(in.signal_fd);
	}
	return status;
}
