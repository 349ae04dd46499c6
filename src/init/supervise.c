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
	if (!at) {
		return take_signal(ALL_SIGNALS, info, NULL) > 0;
	}
	uint64_t now = now_ms(), ms = at > now ? at - now : 0;
	struct timespec timeout = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
	return take_signal(ALL_SIGNALS, info, &timeout) > 0;
}

static bool wait_until(struct supervisor *in, uint64_t at, siginfo_t *info) {
	return in->plan.beside ? in->plan.beside->loop->wait_until(in, at, info) : sleep_until(at, info);
}

/** Handle what is beside the workload. Returns whether the loop must go on for it. */
static bool wake_beside(struct supervisor *in) {
	return in->plan.beside && in->plan.beside->loop->wake(in);
}

static void supervise(struct supervisor *in) {
	siginfo_t info = {0};
	do {
		if (wait_until(in, ending_next(in), &info)) {
			handle_signal(in, &info);
		}
	} while (wake_beside(in) || !ending_step(in));
}

void init_hold_signals(struct init_plan *plan) {
	if (!plan->holds_signals) {
		plan->holds_signals = true;
		plan->inherited_mask = block_signals(ALL_SIGNALS);
	}
}

int init_run(struct arena *arena, const struct init_plan *plan, struct err *err) {
	// First of all: signals that arrive from here on stay pending until they can be forwarded.
	struct supervisor in;
	memset(&in, 0, offsetof(struct supervisor, asked));
	in.plan = *plan;
	init_hold_signals(&in.plan);
	in.name = plan->argv[0];
	in.self = getpid();
	in.terminal = terminal_look(plan);
	if (in.plan.leftovers == LEFTOVERS_AUTO) {
		in.plan.leftovers = in.self == 1 ? LEFTOVERS_END : LEFTOVERS_LEAVE;
	}
	if (in.self != 1 && !plan->no_subreaper) {
		prctl(PR_SET_CHILD_SUBREAPER, 1UL);
	}

	int status;
	why_begin(&in, arena);
	in.child = start_workload(arena, &in.plan, &in.terminal, &status, err);
	if (in.child < 0) {
		return status;
	}
	in.limit_at = plan->time_limit_ms ? in.started_at + plan->time_limit_ms : 0;
	leave_places(plan->beside);
	report(plan, EVENT_STARTED, in.child, 0);
	if (plan->tell) {
		plan->tell->started(&in);
	}
	if (plan->beside) {
		plan->beside->loop->begin(&in);
	}
	supervise(&in);
	terminal_leave(&in.terminal, in.child);
	return workload_status(&in);
}
