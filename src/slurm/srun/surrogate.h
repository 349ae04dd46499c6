// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Runs a workload as our child, with a surrogate step that mirrors it, and with a time limit. */

#include "init/init.h"
#include "srun/budget.h"
#include "srun/step.h"
#include "srun/where.h"

struct surrogate_plan {
	/** The workload. After init_plan_preset(), the caller sets argv, envp, path, grace periods and log. */
	struct init_plan init;
	/** Where this process runs. If `where` is unsure, squeue is asked while the workload runs. */
	struct where *where;
	/** The step's name. */
	const char *step_name;
	/** The environment for Slurm's tools, from tool_environment(). */
	char **tool_envp;
	/** Start the workload only when the step is up. */
	bool require;
	/** An open budget with a limit; NULL: none. */
	struct budget *budget;
	/** Print one line. */
	void (*print)(void *context, enum log_level level, const char *text);
	void *context;
};

/**
 * Run the workload. Returns the status to exit with. If @err has a text, the workload was not started, and
 * the caller should print the text. Then the status is
 * - EXIT_NOT_FOUND or EXIT_NOT_RUNNABLE: the workload cannot be started;
 * - EXIT_TIME_LIMIT: the budget is used up;
 * - EXIT_OURS: a required step cannot be started, or the budget's file cannot be written.
 */
int surrogate_run(struct arena *arena, const struct surrogate_plan *plan, struct err *err);
