// SPDX-License-Identifier: Apache-2.0

/**
 * The loop: sleep until a signal comes, and do what it asks for. No timer runs once the workload has settled, unless a time
 * limit or a grace does.
 */

#include "exec/exec.h"
#include "init/signals.h"
#include "init/supervisor.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/** How often, a millisecond apart, a signal is tried again that the workload's queue has no room for. */
#define QUEUE_TRIES 1000

/** How long nothing has to happen, in milliseconds, before memory is given back. */
#define QUIET_MS 100

/** Send a queued signal on with its value, and with its first sender. */
RESIDENT static int send_queued(const struct supervisor *in, int signal, siginfo_t *info) {
	info->si_signo = signal;
	return in->pidfd >= 0 ? (int)kernel(SYS_pidfd_send_signal, in->pidfd, signal, (long)info, 0)
			      : (int)kernel(SYS_rt_sigqueueinfo, in->child, signal, (long)info, 0);
}

/** Send @signal on to the workload. Returns 0 or a negative errno. */
RESIDENT static int send_on(const struct supervisor *in, int signal, siginfo_t *info) {
	bool queued = info->si_code < 0 && info->si_code != SI_TKILL && !in->plan.kill_group;
	int r = queued ? send_queued(in, signal, info) : send_to_workload(in, signal);
	for (int i = 0; r == -EAGAIN && i < QUEUE_TRIES; i++) {
		poll_one(-1, 0, 1);
		r = send_queued(in, signal, info);
	}
	return r;
}

RESIDENT static bool asks_to_end(int signal) {
	return signal == SIGTERM || signal == SIGINT;
}

static void say_refused(const struct supervisor *in, int signal, int r) {
	say(in, INIT_WARN, "signal %s cannot be sent to %s: %s", signal_name(signal).s, in->name,
	    strerror(-r));
}

static void say_forwarded(const struct supervisor *in, int signal, int as) {
	say(in, INIT_INFO, "signal %s is forwarded%s%s", signal_name(signal).s, as == signal ? "" : " as ",
	    as == signal ? "" : signal_name(as).s);
}

RESIDENT static void forward(struct supervisor *in, siginfo_t *info) {
	int signal = info->si_signo, as = in->plan.signal_as[signal];
	if (as == 0 || in->ended) {
		if (in->plan.log >= INIT_INFO) {
			say(in, INIT_INFO, "signal %s is dropped", signal_name(signal).s);
		}
		return;
	}
	int r = send_on(in, as, info);
	if (r < 0 && r != -ESRCH && !in->refused) {
		in->refused = true;
		say_refused(in, as, r);
	}
	if (in->plan.log >= INIT_INFO) {
		say_forwarded(in, signal, as);
	}
	if (asks_to_end(signal) || asks_to_end(as)) {
		ending_begin(in);
	}
}

RESIDENT void handle_signal(struct supervisor *in, siginfo_t *info) {
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
RESIDENT static bool sleep_until(uint64_t at, siginfo_t *info) {
	if (!at) {
		return take_signal(ALL_SIGNALS, info, NULL) > 0;
	}
	uint64_t now = now_ms(), ms = at > now ? at - now : 0;
	struct timespec timeout = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
	return take_signal(ALL_SIGNALS, info, &timeout) > 0;
}

RESIDENT static bool wait_until(struct supervisor *in, uint64_t at, siginfo_t *info) {
	return in->plan.beside ? in->plan.beside->loop->wait_until(in, at, info) : sleep_until(at, info);
}

/** Look after what is beside. Returns whether it has to be waited for. */
RESIDENT static bool step_beside(struct supervisor *in) {
	return in->plan.beside && in->plan.beside->loop->step(in);
}

/** Memory is given back once nothing has happened for a moment: a workload that ends at once need not wait for that. */
RESIDENT static void supervise(struct supervisor *in) {
	uint64_t quiet_at = now_ms() + QUIET_MS;
	siginfo_t info = {0};
	do {
		if (wait_until(in, earliest(ending_next(in), quiet_at), &info)) {
			handle_signal(in, &info);
		} else if (quiet_at && now_ms() >= quiet_at) {
			struct code code;
			quiet_at = 0;
			give_memory_back(&code);
			give_code_back(&code);
		}
	} while (step_beside(in) || !ending_step(in));
}

/** What to exit with. */
static int exit_status(const struct supervisor *in) {
	int status = WIFEXITED(in->status) ? WEXITSTATUS(in->status) : 128 + WTERMSIG(in->status);
	if (WIFSIGNALED(in->status)) {
		say(in, INIT_INFO, "%s was ended by signal %s", in->name,
		    signal_name(WTERMSIG(in->status)).s);
	} else {
		say(in, INIT_INFO, "%s has ended with status %d", in->name, status);
	}
	return workload_status(in);
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
	leave_places(plan->beside);
	if (plan->beside) {
		plan->beside->loop->begin(&in);
	}
	supervise(&in);
	terminal_leave(&in.terminal);
	return exit_status(&in);
}
