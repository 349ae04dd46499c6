// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What this process is to Slurm, and how that is known. */

#include "base/arena.h"
#include "base/err.h"
#include "env/env.h"

enum slurm_place {
	/** In no job. */
	SLURM_NONE,
	/** A batch script, or below it. */
	SLURM_BATCH,
	/** A shell of salloc, on whatever machine. */
	SLURM_SALLOC,
	/** The step that is salloc's shell (LaunchParameters=use_interactive_step). */
	SLURM_INTERACTIVE,
	/** A task of a step: srun started it. */
	SLURM_STEP,
};

struct where {
	enum slurm_place place;
	/** NULL in no job. */
	const char *job_id;
	/** Of a step, its number; else NULL. */
	const char *step_id;
	/** What told it: "process", "cgroup", "variables" or "squeue". */
	const char *by;
	/** One clause, for people. */
	const char *why;
	/** Only the variables say that this is a step, and those leak: where_ask() can tell, or where_question() and where_answer(). */
	bool unsure;
};

/**
 * Find out, from what the kernel and the variables tell. @root: where /proc is looked for; NULL: in /.
 *
 * SLURM_STEP_ID alone is wrong in three ways: a batch script that is submitted inside a step inherits it, so does salloc there, and the step
 * that is salloc's shell has one that is no number of a step. So: the nearest slurmstepd above this process says what it runs. Where none can
 * be seen, the cgroup does; else the variables, and then a step has to be asked for.
 */
void where_read(struct arena *arena, const struct env *env, const char *root, struct where *out);

/** The command that lists the step which an unsure @where names, for tool_start(). In the arena. */
char **where_question(struct arena *arena, const struct where *where);

/** Decide by what that command has printed; NULL where it could not be asked, @why not. */
void where_answer(struct arena *arena, struct where *where, const struct str *printed, const char *why);

/** Ask, and wait for the answer for at most @timeout_ms. Does nothing where @where is sure. */
void where_ask(struct arena *arena, const struct env *env, uint64_t timeout_ms, struct where *where);

/** "none", "batch", "salloc", "interactive" or "step". */
const char *slurm_place_name(enum slurm_place place);

/** Whether a surrogate step belongs here: in an allocation, and not in a step. */
static inline bool where_takes_steps(const struct where *where) {
	return where->place == SLURM_BATCH || where->place == SLURM_SALLOC ||
	       where->place == SLURM_INTERACTIVE;
}
