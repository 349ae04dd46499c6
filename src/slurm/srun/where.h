// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Finds out where this process runs in Slurm: in which job, and whether in a step. */

#include "base/arena.h"
#include "base/err.h"
#include "env/env.h"

enum slurm_place {
	/** Not in a job. */
	SLURM_NONE,
	/** In a batch script. */
	SLURM_BATCH,
	/** In a shell of salloc, on any machine, that is not a step. */
	SLURM_SALLOC,
	/** In a shell of salloc that is a step (LaunchParameters=use_interactive_step). */
	SLURM_INTERACTIVE,
	/** In a task of a step: srun started it. */
	SLURM_STEP,
};

struct where {
	enum slurm_place place;
	/** NULL: not in a job. */
	const char *job_id;
	/** The step's number; NULL: not in a step. */
	const char *step_id;
	/** The source of this result: "process", "cgroup", "variables" or "squeue". */
	const char *by;
	/** The reason, as one clause for people. */
	const char *why;
	/** `place` is SLURM_STEP by variables only, which leak into other jobs. where_ask() asks squeue. */
	bool unsure;
};

/**
 * Find out by the kernel and the variables. @root: the folder that contains /proc; NULL: "/".
 *
 * SLURM_STEP_ID alone is no proof of a step, for three reasons: a batch script that was submitted inside a
 * step inherits it; salloc inside a step inherits it, too; and a shell of salloc that is a step has a special
 * number. Therefore the nearest slurmstepd among our ancestors decides. If none is visible, the cgroup
 * decides. If that shows no step, the variables decide, and squeue has to be asked whether there is such a
 * step.
 */
void where_read(struct arena *arena, const struct env *env, const char *root, struct where *out);

/** Make the squeue command that lists the step of an unsure @where, for tool_start(), in the arena. */
char **where_question(struct arena *arena, const struct where *where);

/** Decide by @printed, the output of that command. NULL: the command failed, and @why is the reason. */
void where_answer(struct arena *arena, struct where *where, const struct str *printed, const char *why);

/** If @where is unsure, run that command with the environment @envp, for at most @timeout_ms, and decide. */
void where_ask(struct arena *arena, char *const envp[], uint64_t timeout_ms, struct where *where);

/** "none", "batch", "salloc", "interactive" or "step". */
const char *slurm_place_name(enum slurm_place place);

/** Whether a surrogate step is useful here: in a job, but not in a task of a step. */
static inline bool where_takes_steps(const struct where *where) {
	return where->place == SLURM_BATCH || where->place == SLURM_SALLOC ||
	       where->place == SLURM_INTERACTIVE;
}
