// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Stay as the workload's parent: as PID 1 of a container, or as any other process.
 *
 * Signals are forwarded, orphans are reaped, and the workload gets the terminal. Processes that the
 * workload leaves behind may be asked to end, and are then killed.
 *
 * The flow, one file each:
 *
 *     plan.c (the options) -> start.c (the child) -> places.c -> supervise.c (the loop)
 *         forward.c    signals to the workload
 *         reap.c       children that have ended
 *         why.c        why the workload ended
 *         ending.c     grace period, time limit
 *         leftovers.c  processes that are left behind
 *         terminal.c   foreground, Ctrl-Z
 *         observer.c   who is told, and what is handled beside the workload
 *         say.c        messages; tell.c: the report
 *
 * Only the loop calls these. If one of them needs another, it returns what is to be done.
 */

#include "base/arena.h"
#include "base/err.h"
#include "base/log.h"
#include "base/signals.h"
#include "init/observer.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct report;
struct access;
struct view;

/** What to do with processes that remain when the workload has ended. */
enum leftovers {
	/**
	 * LEFTOVERS_END as PID 1, where they would die with us anyway, and where our parent is outside of our
	 * PID namespace; else LEFTOVERS_LEAVE.
	 */
	LEFTOVERS_AUTO,
	/** They see end of file on what they read from us, are asked to end, and are killed. */
	LEFTOVERS_END,
	/** As PID 1 they have a moment to see end of file on what they read from us; then the kernel kills them. */
	LEFTOVERS_LEAVE,
};

struct init_plan {
	/** The workload, for exec_program(). An entry of @envp (LISTEN_PID) may be replaced. */
	char *const *argv;
	char **envp;
	const char *path;
	/**
	 * Time from the first TERM until the workload is killed, in milliseconds; or CLOCK_NEVER.
	 */
	uint64_t grace_ms;
	/** The same, from the time limit. */
	uint64_t limit_grace_ms;
	enum leftovers leftovers;
	/** Time from TERM until leftover processes are killed, in milliseconds. */
	uint64_t leftovers_grace_ms;
	/** Time limit of the workload, in milliseconds; CLOCK_NEVER: none. */
	uint64_t time_limit_ms;
	/** Forward signals to the workload's process group, not to the workload alone. */
	bool kill_group;
	/** The signal that the workload gets when we die; 0: none. */
	int pdeathsig;
	/**
	 * Which messages init_run() prints on stderr once the workload runs. LOG_INFO: also which
	 * signals were forwarded, and how the workload ended in any case.
	 */
	enum log_level log;
	/** The words for errors and warnings have colour. */
	bool colour;
	/**
	 * Say how the workload ended, unless it just exited with 0. Without this, only LOG_INFO
	 * says it.
	 */
	bool explains;
	/** The file to which this goes, too, if it exists and is empty; NULL: none. */
	const char *termination_log;
	/** Whose rights open it. */
	struct access *access;
	/** Each event is a line of it; NULL: no report. */
	struct report *report;
	/** The kernel's files are read below its root; NULL: below "/". */
	const struct view *view;
	/** The program's name, for messages. */
	const char *program;
	/** Do not become a subreaper if we are not PID 1. */
	bool no_subreaper;
	/** A secret was given to this process, which its memory may still hold. */
	bool has_secret;
	/** Gets events, and handles other things while the workload runs; NULL: none. */
	struct observer *observer;
	/**
	 * The workload may be started again, if the observer asks for that (`again`). Until it is known that it
	 * will not, our streams, working directory and descriptors stay open, and nothing is written to the
	 * termination log.
	 */
	bool restarts;
	/** A variable that each start of the workload has, and that nothing else has; NULL: none. */
	const char *mark;
	/** This is not the first start: the time limit counts from @first_at, on clock_now_ms()'s clock. */
	bool is_restart;
	uint64_t first_at;
	/** Set by init_hold_signals(): what the workload gets. */
	bool holds_signals;
	uint64_t inherited_mask;
	struct sigaction child_action;
	/** The signal that each signal is forwarded as; 0: it is dropped. */
	uint8_t signal_as[SIGNAL_MAX + 1];
	/** The exit status that each exit status of the workload becomes. */
	uint8_t status_as[256];
	/** The same for status 0 if nobody told the workload to end, and after TERM; -1: as any other. */
	int early_as, told_as;
};

/** The exit status if the time limit ended the workload. */
#define EXIT_TIME_LIMIT 124

/**
 * Set the defaults: signals and statuses are unchanged, the grace period never ends (after a time
 * limit: 30 s), leftovers get 2 s, and messages carry distinit's name. The rest is zero.
 */
void init_plan_preset(struct init_plan *plan);

/**
 * End as a resource manager ends a job step: no process is left, and the workload and its leftovers
 * each get @grace_ms.
 */
void init_plan_like_step(struct init_plan *plan, uint64_t grace_ms);

/**
 * Read rewritten signals, "TERM:INT,USR1:0", into @plan. @label names the option. If a signal
 * occurs more than once, the last entry counts.
 * Returns 0 or -EINVAL.
 */
int init_plan_signals(struct init_plan *plan, const char *label, const char *list, struct err *err);

/** Read remapped exit statuses, "143:0,1:2,early:70", into @plan. Returns 0 or -EINVAL. */
int init_plan_statuses(struct init_plan *plan, const char *label, const char *list, struct err *err);

/** Read the signal for the workload's pdeathsig. Returns 0 or -EINVAL. */
int init_plan_pdeathsig(struct init_plan *plan, const char *label, const char *name, struct err *err);

/**
 * Block all signals: those that arrive from here on stay pending, and are forwarded to the
 * workload. Without this, PID 1 would lose them. init_run() does it if it was not done before.
 *
 * Returns 0; or a negative errno: the kernel refuses it, so no end of a child could be waited for.
 */
int init_hold_signals(struct init_plan *plan, struct err *err);

/**
 * Start the workload. Wait until it has ended, and until its leftovers have ended.
 *
 * A start owns the child, its process group, the terminal's foreground, its leftovers, the deadlines
 * and the observer's `end`, and gives them back: the child and its leftovers are reaped, the foreground
 * is ours again, nothing is due. What the process gave up is not restored: the working directory,
 * and descriptors that the plan does not keep; once there were leftovers to end, also stdin, and
 * stdout and stderr if they were pipes. The arena keeps what the start took from it.
 *
 * With the observer's `again` nothing was given up, and no descendant of the workload is left: all
 * were ended, as PID 1, too, but nobody who came from outside was. Then the caller may start it again.
 *
 * Returns the status to exit with. If the workload could not be started, that is EXIT_NOT_FOUND,
 * EXIT_NOT_RUNNABLE or EXIT_OURS, and @err is set and should be printed; if it cannot be started again,
 * as what it left behind cannot be killed, EXIT_OURS likewise. Else the text of @err is empty.
 * Afterwards all signals are blocked, and the process should exit, unless it starts the workload again.
 */
int init_run(struct arena *arena, const struct init_plan *plan, struct err *err);
