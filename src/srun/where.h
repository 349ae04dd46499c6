// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Where this process runs in Slurm (job, step), and how that is known. */

#include "base/arena.h"
#include "base/err.h"
#include "env/env.h"

enum slurm_place {
	/** Not in a job. */
	SLURM_NONE,
	/** In a batch script. */
	SLURM_BATCH,
	/** In a shell of salloc, on any machine. */
	SLURM_SALLOC,
	/** In salloc's shell, which is a step (LaunchParameters=use_interactive_step). */
	SLURM_INTERACTIVE,
	/** In a task of a step: srun started it. */
	SLURM_STEP,
};

struct where {
	enum slurm_place place;
	/** NULL if not in a job. */
	const char *job_id;
	/** The step's number; NULL if not in a step. */
	const char *step_id;
	/** The source of this: "process", "cgroup", "variables" or "squeue". */
	const char *by;
	/** The reason, as one clause for people. */
	const char *why;
	/** Only variables say so, and those leak into other jobs. where_ask() finds out. */
	bool unsure;
};

/**
 * Find out from the kernel and the variables. @root: the folder that contains /proc; NULL: "/".
 *
 * SLURM_STEP_ID alone is wrong in three cases: a batch script that was submitted inside a step
 * inherits it; so does salloc there; and salloc's shell as a step has a special number. So the
 * nearest slurmstepd among our ancestors decides. If none is visible, the cgroup decides; else the
 * variables, and then squeue must be asked whether there is such a step.
 */
void where_read(struct arena *arena, const struct env *env, const char *root, struct where *out);

/** The command that lists the step of an unsure @where, for tool_start(). In the arena. */
char **where_question(struct arena *arena, const struct where *where);

/** Decide by the output of that command; NULL if it failed: then @why is the reason. */
void where_answer(struct arena *arena, struct where *where, const struct str *printed, const char *why);

/** Run that command, for at most @timeout_ms. Does nothing if @where is sure. */
void where_ask(struct arena *arena, const struct env *env, uint64_t timeout_ms, struct where *where);

/** "none", "batch", "salloc", "interactive" or "step". */
const char *slurm_place_name(enum slurm_place place);

/** Whether a surrogate step is useful here: in an allocation, but not in a step. */
static inline bool where_takes_steps(const struct where *where) {
	return where->place == SLURM_BATCH || where->place == SLURM_SALLOC ||
	       where->place == SLURM_INTERACTIVE;
}
