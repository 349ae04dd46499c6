// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The surrogate step: a job step that mirrors a command, so that Slurm's accounting shows when the
 * command ran and how it ended.
 *
 * srun runs a few lines of shell on one node of the job (nothing else is needed there). We
 * communicate with that script over srun's stdin and stdout:
 *
 *     step -> us      UP 3         it runs, as step 3
 *     step -> us      TERM         Slurm has sent it this signal
 *     us -> step      7            the command has ended with this status; the step exits with it
 *     us -> step      end of file  we are dead: the step exits with 70, which Slurm shows as FAILED
 *
 * These functions do small pieces of work and never block, so that an event loop can call them.
 */

#include "srun/tool.h"

#include <poll.h>
#include <stdbool.h>

/** The step's exit status if it was sent no status: EX_SOFTWARE. */
#define STEP_LOST 70

enum step_state {
	/** Not started. */
	STEP_NONE,
	/** srun runs; the step has sent nothing yet. */
	STEP_STARTING,
	/** The step runs. */
	STEP_UP,
	/** Over; `end` says how. */
	STEP_OVER,
};

enum step_end {
	/** It received the command's status, and ended. */
	STEP_DONE,
	/** It was never started. */
	STEP_NEVER,
	/** It was cancelled, by scancel or by a limit of the job. */
	STEP_CANCELLED,
	/** It ended, but nothing asked the command to end: srun was killed, or failed. */
	STEP_GONE,
};

struct step {
	enum step_state state;
	enum step_end end;
	struct tool srun;
	/** Its Slurm step ID; "" until it is up. */
	char id[16];
	/** The status was sent to it. Only its end is expected now. */
	bool status_sent;
	/** Signals that the step got and the caller has not handled yet: bit N-1 stands for signal N. */
	uint64_t signals;
	/** A partial line of its stdout. */
	char line[64];
	size_t line_len;
	struct tool_tail errors;
	/** Why it is over, if `end` is not STEP_DONE. */
	struct err why;
};

/** Room for step_name(). */
#define STEP_NAME_MAX 80

/**
 * Write the step's name to @out: @name, or, if NULL, "wsjob-" and 22 random letters and digits;
 * followed by "-csxN" if @csx is not 0.
 * Returns 0; -EINVAL with @err set if @name is too long, or has characters other than letters,
 * digits and . _ - /.
 */
int step_name(char out[STEP_NAME_MAX], const char *name, uint32_t csx, struct err *err);

/** Start srun for a step @name in job @job_id. Returns 0; or -1 with the state STEP_OVER and `why`. */
int step_start(struct step *step, struct arena *arena, const char *name, const char *job_id,
	       char *const envp[]);

/** Write the descriptors to poll into @fds; -1 for closed ones. */
void step_fds(const struct step *step, struct pollfd fds[2]);

/** Read what has arrived. */
void step_read(struct step *step);

/** The command has ended with @status: send this to the step. */
void step_send_status(struct step *step, int status);

/** srun, whose pid is step->srun.pid, was reaped with @status from waitpid(). */
void step_reaped(struct step *step, int status);

/** Kill srun. The caller must reap it and call step_reaped(). */
void step_kill(struct step *step);
