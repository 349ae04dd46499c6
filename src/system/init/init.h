// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Stays as the workload's parent: as PID 1 of a container, or as any other process.
 *
 * distinit forwards signals, reaps orphans, and gives the terminal to the workload. When the workload has
 * ended, it may ask leftovers (the workload's remaining processes) to end, and then kill them.
 *
 * The flow, one file each:
 *
 *     plan.c (the options) -> start.c (the child) -> places.c -> supervise.c (the loop)
 *         forward.c    signals to the workload
 *         reap.c       children that have ended
 *         why.c        why the workload ended
 *         ending.c     grace period, time limit
 *         leftovers.c  the workload's remaining processes
 *         terminal.c   foreground, Ctrl-Z
 *         observer.c   events for the observer, and its descriptors and deadlines
 *         say.c        messages; tell.c: the report
 *
 * Only the loop calls these. If one of these files needs another, it returns what is to be done.
 */

#include "base/arena.h"
#include "base/err.h"
#include "base/log.h"
#include "base/signals.h"
#include "exec/exec.h"
#include "init/observer.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct report;
struct access;
struct view;

/** What to do with the workload's remaining processes. */
enum leftovers {
	/**
	 * As PID 1, LEFTOVERS_END, because the kernel would kill them when we exit; also if our parent is outside
	 * of our PID namespace. Else LEFTOVERS_LEAVE.
	 */
	LEFTOVERS_AUTO,
	/** Close our streams, so that they see end of file; then ask them to end; then kill them. */
	LEFTOVERS_END,
	/**
	 * Exit without them. As PID 1, close our streams and wait a moment first: the kernel kills them at our
	 * exit.
	 */
	LEFTOVERS_LEAVE,
};

struct init_plan {
	/** The workload, for exec_program(). start.c may replace the entry LISTEN_PID of `envp`. */
	char *const *argv;
	char **envp;
	const char *path;
	/** Milliseconds from the first TERM until the workload is killed; CLOCK_NEVER: it is not killed. */
	uint64_t grace_ms;
	/** Milliseconds from the time limit until the workload is killed; CLOCK_NEVER: it is not killed. */
	uint64_t limit_grace_ms;
	enum leftovers leftovers;
	/** Milliseconds from the TERM for leftovers until they are killed. */
	uint64_t leftovers_grace_ms;
	/** The workload's time limit, in milliseconds; CLOCK_NEVER: none. */
	uint64_t time_limit_ms;
	/** Forward signals to the workload's process group, not to the workload alone. */
	bool kill_group;
	/** The signal that the workload gets when we die; 0: none. */
	int pdeathsig;
	/**
	 * Which messages init_run() prints on stderr while the workload runs. LOG_INFO: also which signals were
	 * forwarded, and in each case how the workload ended.
	 */
	enum log_level log;
	/** Print "error" and "warning" in colour. */
	bool colour;
	/** If the workload did not just exit with 0, warn how it ended. Without this, only LOG_INFO prints it. */
	bool explains;
	/** If this file exists and is empty, append that warning to it, too; NULL: none. */
	const char *termination_log;
	/** The rights that open the termination log. */
	struct access *access;
	/** Gets a line for each event; NULL: no report. */
	struct report *report;
	/** The kernel's files are read below the root of this view; NULL: below "/". */
	const struct view *view;
	/** The program's name, for messages. */
	const char *program;
	/** Do not become a subreaper if we are not PID 1. */
	bool no_subreaper;
	/** The memory of this process may hold a secret. */
	bool has_secret;
	/** Gets events, and may handle its own descriptors and deadlines in the loop; NULL: none. */
	struct observer *observer;
	/**
	 * If the observer sets `again`, the caller restarts the workload. As long as a restart is possible, our
	 * streams, working directory and descriptors stay open, and lines for the termination log are kept.
	 */
	bool restarts;
	/**
	 * A variable, "NAME=VALUE", that the workload has at each start, and that no other process has; NULL:
	 * none.
	 */
	const char *mark;
	/** If this is not the first start, the time limit counts from `first_at`, on clock_now_ms()'s clock. */
	bool is_restart;
	uint64_t first_at;
	/** init_hold_signals() has blocked the signals. The workload gets the mask and the action below. */
	bool holds_signals;
	uint64_t inherited_mask;
	struct sigaction child_action;
	/** Indexed by signal: the signal to forward instead; 0: drop it. */
	uint8_t signal_as[SIGNAL_MAX + 1];
	/** Indexed by the workload's exit status: our exit status. */
	uint8_t status_as[256];
	/**
	 * Replacement for status 0: `early_as` if the workload was not asked to end, `told_as` after TERM; -1:
	 * none.
	 */
	int early_as, told_as;
};

/**
 * Set the defaults: signals and statuses are not rewritten, the grace period never ends (after a time
 * limit: 30 s), leftovers get 2 s, and messages begin with "distinit". The rest is zero.
 */
void init_plan_preset(struct init_plan *plan);

/**
 * End as a resource manager ends a job step: no process remains, and the workload and its leftovers each
 * get @grace_ms milliseconds from TERM to KILL.
 */
void init_plan_like_step(struct init_plan *plan, uint64_t grace_ms);

/**
 * Read rewritten signals, "TERM:INT,USR1:0", into @plan. @label names the option in messages. If a signal
 * occurs more than once, the last entry counts.
 * Returns 0 or -EINVAL.
 */
int init_plan_signals(struct init_plan *plan, const char *label, const char *list, struct err *err);

/** Read remapped exit statuses, "143:0,1:2,early:70", into @plan. Returns 0 or -EINVAL. */
int init_plan_statuses(struct init_plan *plan, const char *label, const char *list, struct err *err);

/** Read the signal for the workload's pdeathsig. Returns 0 or -EINVAL. */
int init_plan_pdeathsig(struct init_plan *plan, const char *label, const char *name, struct err *err);

/**
 * Block all signals, so that a signal that arrives from here on stays pending and is forwarded to the
 * workload: PID 1 would lose it otherwise. If the caller did not call this, init_run() does.
 *
 * Returns 0; or a negative errno if the kernel refuses it: then we could not wait for a child.
 */
int init_hold_signals(struct init_plan *plan, struct err *err);

/**
 * Start the workload, and wait until it and its leftovers have ended.
 *
 * On return, the child and its leftovers are reaped, the terminal's foreground is ours again, and no
 * deadline is pending. These are not restored: the working directory; the descriptors that the observer
 * does not keep; stdin, and stdout and stderr if they were pipes or sockets, if there were leftovers to
 * end. Memory from @arena stays allocated.
 *
 * If the observer has set `again`, all of these are still open, and all descendants of the workload have
 * ended, but processes from outside (`docker exec`) were left alone. Then the caller may restart it.
 *
 * Returns the status to exit with. If the workload could not be started, it is EXIT_NOT_FOUND,
 * EXIT_NOT_RUNNABLE or EXIT_OURS; if the workload cannot be restarted because leftovers cannot be killed,
 * EXIT_OURS: in both cases @err is set, and the caller should print it. Else the text of @err is empty.
 * Afterwards all signals are blocked, and the caller should exit or restart the workload.
 */
int init_run(struct arena *arena, const struct init_plan *plan, struct err *err);
