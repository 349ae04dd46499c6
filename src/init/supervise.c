// SPDX-License-Identifier: Apache-2.0

/** The loop: sleep until a signal comes, and do what it asks for. No timer runs unless a time limit or a grace does. */

#include "exec/exec.h"
#include "init/signals.h"
#include "init/supervisor.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/** How often, a millisecond apart, a signal is tried again that the workload's queue has no room for. */
#define QUEUE_TRIES 1000

/** Send a queued signal on with its value, and with its first sender. */
static int send_queued(const struct supervisor *in, int signal, siginfo_t *info) {
	info->si_signo = signal;
	long r = in->pidfd >= 0 ? syscall(SYS_pidfd_send_signal, in->pidfd, signal, info, 0)
				: syscall(SYS_rt_sigqueueinfo, in->child, signal, info);
	return r < 0 ? -errno : 0;
}

/** Send @signal on to the workload. Returns 0 or a negative errno. */
static int send_on(const struct supervisor *in, int signal, siginfo_t *info) {
	bool queued = info->si_code < 0 && info->si_code != SI_TKILL && !in->plan.kill_group;
	int r = queued ? send_queued(in, signal, info) : send_to_workload(in, signal);
	for (int i = 0; r == -EAGAIN && i < QUEUE_TRIES; i++) {
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		r = send_queued(in, signal, info);
	}
	return r;
}

static bool asks_to_end(int signal) {
	return signal == SIGTERM || signal == SIGINT;
}

static void forward(struct supervisor *in, siginfo_t *info) {
	int signal = info->si_signo, as = in->plan.signal_as[signal];
	if (as == 0 || in->ended) {
		say(in, INIT_INFO, "signal %s is dropped", signal_name(signal).s);
		return;
	}
	int r = send_on(in, as, info);
	if (r < 0 && r != -ESRCH && !in->refused) {
		in->refused = true;
		say(in, INIT_WARN, "signal %s cannot be sent to %s: %s", signal_name(as).s, in->name,
		    strerror(-r));
	}
	say(in, INIT_INFO, "signal %s is forwarded%s%s", signal_name(signal).s, as == signal ? "" : " as ",
	    as == signal ? "" : signal_name(as).s);
	if (asks_to_end(signal) || asks_to_end(as)) {
		ending_begin(in);
	}
}

static void handle(struct supervisor *in, siginfo_t *info) {
	if (info->si_signo == SIGCHLD) {
		reap(in, info);
		return;
	}
	// A message of ours that nobody reads.
	if (info->si_signo == SIGPIPE && info->si_pid == in->self) {
		return;
	}
	if (terminal_owns(in, info)) {
		terminal_obey(in, info->si_signo);
		return;
	}
	if (info->si_signo == SIGCONT && !in->ended && terminal_continue(in)) {
		return;
	}
	forward(in, info);
}

/** Sleep until a signal comes or something is due. Returns whether one came. */
static bool sleep_until(uint64_t at, siginfo_t *info) {
	if (!at) {
		return take_signal(ALL_SIGNALS, info, NULL) > 0;
	}
	uint64_t now = now_ms(), ms = at > now ? at - now : 0;
	struct timespec timeout = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
	return take_signal(ALL_SIGNALS, info, &timeout) > 0;
}

static void supervise(struct supervisor *in) {
	siginfo_t info;
	do {
		if (sleep_until(ending_next(in), &info)) {
			handle(in, &info);
		}
	} while (!ending_step(in));
}

/** What to exit with. */
static int exit_status(const struct supervisor *in) {
	int status = WIFEXITED(in->status) ? WEXITSTATUS(in->status) : 128 + WTERMSIG(in->status);
	if (WIFSIGNALED(in->status)) {
		say(in, INIT_INFO, "%s was ended by signal %s", in->name, signal_name(WTERMSIG(in->status)).s);
	} else {
		say(in, INIT_INFO, "%s has ended with status %d", in->name, status);
	}
	return in->limited ? EXIT_TIME_LIMIT : in->plan.status_as[status];
}

int init_run(struct arena *arena, const struct init_plan *plan, struct err *err) {
	// First of all: what comes from here on waits, and is forwarded once there is somebody to forward it to.
	signal_set inherited = block_signals(ALL_SIGNALS);
	struct supervisor in;
	memset(&in, 0, offsetof(struct supervisor, told));
	in.plan = *plan;
	in.name = plan->argv[0];
	in.self = getpid();
	in.pidfd = -1;
	in.terminal = terminal_look(plan);
	if (in.self != 1) {
		prctl(PR_SET_CHILD_SUBREAPER, 1UL);
	}

	int status;
	in.child = start_workload(arena, plan, &in.terminal, inherited, &status, err);
	if (in.child < 0) {
		terminal_leave(&in.terminal);
		return status;
	}
	in.limit_at = plan->time_limit_ms ? now_ms() + plan->time_limit_ms : 0;
	settle(plan);
	supervise(&in);
	terminal_leave(&in.terminal);
	return exit_status(&in);
}
