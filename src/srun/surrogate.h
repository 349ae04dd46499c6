// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Runs a workload as our child, beside it a step that mirrors it, and with a time limit. */

#include "init/init.h"
#include "srun/budget.h"
#include "srun/step.h"
#include "srun/where.h"

struct surrogate_plan {
	/** The workload. The caller sets argv, envp, path, graces and log, after init_plan_preset(). */
	struct init_plan init;
	/** Where we are. If it is unsure, squeue is asked while the workload runs. */
	struct where *where;
	/** The step's name. */
	const char *step_name;
	/** The environment for Slurm's tools, from tool_environment(). */
	char **tool_envp;
	/** Start the workload only once the step is up. */
	bool require;
	/** An open budget with a limit; or NULL. */
	struct budget *budget;
	/** Print one line. */
	void (*say)(void *context, enum log_level level, const char *text);
	void *context;
};

/**
 * Run the workload. Returns the status to exit with. If @err has a text, print it: the workload was
 * not started. That is so if it cannot be started (EXIT_NOT_FOUND, EXIT_NOT_RUNNABLE), if its time
 * is used up (EXIT_TIME_LIMIT), and if a required step cannot be started or the budget's file
 * cannot be written (EXIT_OURS).
 */
int surrogate_run(struct arena *arena, const struct surrogate_plan *plan, struct err *err);
