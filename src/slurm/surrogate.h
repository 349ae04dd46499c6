// SPDX-License-Identifier: Apache-2.0
#pragma once

/** A workload as our child, and beside it a step that mirrors it, and a limit to its time. */

#include "flow/budget.h"
#include "init/init.h"
#include "slurm/step.h"
#include "slurm/where.h"

enum surrogate_level {
	SURROGATE_ERROR,
	SURROGATE_WARNING,
	SURROGATE_INFO,
	SURROGATE_DEBUG,
};

struct surrogate_plan {
	/** The workload: argv, envp, path, grace periods and log are its user's; the rest as init_plan_preset() sets it. */
	struct init_plan init;
	/** Where we are; where the answer is not sure, it is asked for beside the workload. */
	struct where *where;
	/** What the step is to be called. */
	const char *step_name;
	/** Slurm's tools' environment, of tool_environment(). */
	char **tool_envp;
	/** The step has to be there first. */
	bool require;
	/** Opened, with a limit; or NULL. */
	struct budget *budget;
	/** Say something: one line. */
	void (*say)(void *context, enum surrogate_level level, const char *text);
	void *context;
};

/**
 * Run the workload. Returns the status to exit with. Where @err has a text, it is to be printed: the workload was not started. That is so where
 * it cannot be (EXIT_NOT_FOUND, EXIT_NOT_RUNNABLE), where its time is used up (EXIT_TIME_LIMIT), and where a step is required and cannot be had,
 * or the budget's file cannot be written (EXIT_OURS).
 */
int surrogate_run(struct arena *arena, const struct surrogate_plan *plan, struct err *err);
