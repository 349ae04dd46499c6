// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Staying as the workload's parent: as PID 1 of a container, or as any process.
 *
 * Signals are forwarded, orphans reaped, the terminal handed over; what the workload leaves behind
 * may be told to end, and in the end killed.
 *
 * The flow, a file each:
 *
 *     plan.c (what was asked for) -> start.c (the child) -> places.c -> supervise.c (the loop)
 *         forward.c    signals to the workload
 *         reap.c       who has ended
 *         ending.c     grace period, time limit
 *         leftovers.c  what is left behind
 *         terminal.c   foreground, Ctrl-Z
 */

#include "base/arena.h"
#include "base/err.h"
#include "base/signals.h"

#include <stdbool.h>
#include <stdint.h>

struct beside;

/** What init_run() says on stderr once the workload runs. */
enum init_log {
	INIT_SILENT,
	INIT_WARN,
	/** Also what was forwarded, and how the workload ended. */
	INIT_INFO,
};

/** A grace period without an end. */
#define GRACE_NEVER UINT64_MAX

/** What becomes of processes that are left when the workload has ended. */
enum leftovers {
	/** LEFTOVERS_END as PID 1, where they would die with us anyhow; else LEFTOVERS_LEAVE. */
	LEFTOVERS_AUTO,
	/** They see the end of what they read, are told to end, and are killed. */
	LEFTOVERS_END,
	LEFTOVERS_LEAVE,
};

struct init_plan {
	/** The workload, for exec_program(); one entry of @envp (LISTEN_PID) may be replaced. */
	char *const *argv;
	char **envp;
	const char *path;
	/** How long after the first TERM the workload is killed, in milliseconds; GRACE_NEVER. */
	uint64_t grace_ms;
	/** The same after the time limit. */
	uint64_t limit_grace_ms;
	enum leftovers leftovers;
	/** How long after TERM what is left behind is killed, in milliseconds. */
	uint64_t leftovers_grace_ms;
	/** How long the workload may run, in milliseconds. 0: as long as it likes. */
	uint64_t time_limit_ms;
	/** Forward to the workload's process group, not to the workload alone. */
	bool kill_group;
	/** What the workload gets when we die; 0: nothing. */
	int pdeathsig;
	/** What each signal is forwarded as; 0: not at all. */
	uint8_t signal_as[SIGNAL_MAX + 1];
	/** What each exit status of the workload becomes. */
	uint8_t status_as[256];
	enum init_log log;
	/** The program's name, for messages. */
	const char *program;
	/** What else is looked after while the workload runs (init/beside.h); NULL: nothing. */
	struct beside *beside;
	/** For init_hold_signals(). */
	bool holds_signals;
	uint64_t inherited_mask;
};

/** The exit status where the time limit has ended the workload. */
#define EXIT_TIME_LIMIT 124

/**
 * Preset @plan: every signal as it is, every status as it is, no grace period but after a time
 * limit (30 s), 2 s for what is left behind, messages of distinit. The rest is zero.
 */
void init_plan_preset(struct init_plan *plan);

/**
 * End as a resource manager ends a job step: nothing is left, and the workload and what it leaves
 * have @grace_ms each.
 */
void init_plan_like_step(struct init_plan *plan, uint64_t grace_ms);

/**
 * Read rewritten signals, "TERM:INT,USR1:0", into @plan; @label names the option. Of several for
 * one signal the last counts.
 * Returns 0; -EINVAL.
 */
int init_plan_signals(struct init_plan *plan, const char *label, const char *list, struct err *err);

/** Read remapped exit statuses, "143:0,1:2", into @plan. Returns 0; -EINVAL. */
int init_plan_statuses(struct init_plan *plan, const char *label, const char *list, struct err *err);

/** Read the signal of the workload's pdeathsig. Returns 0; -EINVAL. */
int init_plan_pdeathsig(struct init_plan *plan, const char *label, const char *name, struct err *err);

/**
 * Block all signals: what comes from here on waits, and goes to the workload. As PID 1 a signal is
 * else lost until then. init_run() does it where it was not done before.
 */
void init_hold_signals(struct init_plan *plan);

/**
 * Start the workload and stay until it has ended, and until what it left behind has, too.
 *
 * Returns the status to exit with. @err is set, and to be printed, where the workload could not be
 * started: EXIT_NOT_FOUND, EXIT_NOT_RUNNABLE, or EXIT_OURS; else its text is empty. The process is
 * of no other use afterwards: all signals are blocked.
 */
int init_run(struct arena *arena, const struct init_plan *plan, struct err *err);
