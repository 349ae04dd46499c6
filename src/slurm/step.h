// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The surrogate step: a job step that mirrors a command, so that Slurm's accounting shows when it ran and how it ended.
 *
 * srun runs a few lines of shell on one node of the job (nothing else is needed there), and we talk with them over srun's own stdin and
 * stdout:
 *
 *     step -> us      UP 3         it runs, as step 3
 *     step -> us      TERM         Slurm has sent it this signal
 *     us -> step      7            the command has ended with this status, and the step exits with it
 *     us -> step      end of file  we are dead: the step exits with 70, which is FAILED
 *
 * All is done in small pieces that never block, for a loop that has more to do.
 */

#include "slurm/tool.h"

#include <poll.h>
#include <stdbool.h>

/** What the step exits with when nobody told it a status: EX_SOFTWARE. */
#define STEP_LOST 70

enum step_state {
	/** Not begun. */
	STEP_NONE,
	/** srun runs; nothing was heard of the step. */
	STEP_STARTING,
	/** The step runs. */
	STEP_UP,
	/** All is over, in the way that `end` says. */
	STEP_OVER,
};

enum step_end {
	/** It took the command's status, and ended. */
	STEP_DONE,
	/** There never was a step. */
	STEP_NEVER,
	/** It was cancelled, by scancel or by a limit of the job. */
	STEP_CANCELLED,
	/** It is gone, and the command has not been asked to end: srun was killed, or failed. */
	STEP_GONE,
};

/** Room for what srun prints: the last of it. */
#define STEP_STDERR 4096

struct step {
	enum step_state state;
	enum step_end end;
	struct tool srun;
	/** Its number as Slurm's; "" until it is up. */
	char id[16];
	/** The status was handed over; no more is expected but the end. */
	bool told;
	/** Signals that the step got and that have not been fetched: bit N-1 stands for signal N. */
	uint64_t signals;
	/** A line of its stdout that is not whole yet. */
	char line[64];
	size_t line_len;
	char errors[STEP_STDERR];
	size_t errors_len;
	/** Why it is over, where `end` is not STEP_DONE. */
	struct err why;
};

/** Room for step_name(). */
#define STEP_NAME_MAX 80

/**
 * Make a name at @out: @name, or "wsjob-" and 22 random letters and digits where it is NULL; with "-csxN" where @csx is not 0.
 * Returns 0; -EINVAL where @name is too long or not of letters, digits and . _ - /, with what is wrong in @err.
 */
int step_name(char out[STEP_NAME_MAX], const char *name, uint32_t csx, struct err *err);

/** Start srun for a step called @name in job @job_id. Returns 0; or -1, and then it is STEP_OVER and `why` is set. */
int step_start(struct step *step, struct arena *arena, const char *name, const char *job_id,
	       char *const envp[]);

/** The descriptors to be polled, into @fds; -1 for those that are closed. */
void step_fds(const struct step *step, struct pollfd fds[2]);

/** Take what has come. */
void step_read(struct step *step);

/** The command has ended with @status: tell the step. */
void step_tell(struct step *step, int status);

/** srun, which is step->srun.pid, was reaped with @status, as waitpid() tells it. */
void step_reaped(struct step *step, int status);

/** Do not wait any longer: kill srun. It has to be reaped by the caller, and step_reaped() called. */
void step_kill(struct step *step);
