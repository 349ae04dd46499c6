// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The surrogate step: a job step that mirrors a command, so that Slurm's accounting shows when the
 * command ran and how it ended.
 *
 * srun runs a shell script of a few lines on one node of the job, which needs no other program there. We
 * communicate with the script over srun's stdin and stdout:
 *
 *     step -> us      UP 3         the step runs, as step 3
 *     step -> us      TERM         Slurm has sent this signal to the step
 *     us -> step      7            the command has ended with this status; the step exits with it
 *     us -> step      end of file  we have died: the step exits with 70, which Slurm shows as FAILED
 *
 * These functions never block, so that an event loop can call them.
 */

#include "srun/tool.h"

#include <poll.h>
#include <stdbool.h>

/** The step's exit status if we sent it no status: EX_SOFTWARE. */
#define STEP_LOST 70

enum step_state {
	/** srun is not started. */
	STEP_NONE,
	/** srun runs, and the step has not sent UP yet. */
	STEP_STARTING,
	/** The step runs. */
	STEP_UP,
	/** The step has ended, as `end` says. */
	STEP_OVER,
};

enum step_end {
	/** We sent the command's status to the step, and it has ended. */
	STEP_DONE,
	/** The step did not start. */
	STEP_NEVER,
	/** The step was cancelled, by scancel or by a limit of the job. */
	STEP_CANCELLED,
	/** The step has ended for another reason: srun was killed, or failed. The command need not end. */
	STEP_GONE,
};

struct step {
	enum step_state state;
	enum step_end end;
	struct tool srun;
	/** The step's number in Slurm; "" before STEP_UP. */
	char id[16];
	/** The status was sent to the step, so it will end now. */
	bool status_sent;
	/** Signals that the step has got and that the caller has not handled yet: bit N-1 stands for signal N. */
	uint64_t signals;
	/** The line of the step's stdout that is being read. */
	char line[64];
	size_t line_len;
	/** The end of srun's stderr. */
	struct tool_tail errors;
	/** If `end` is not STEP_DONE: why the step has ended. */
	struct err why;
};

/** The size of the longest name, with its NUL. */
#define STEP_NAME_MAX 80

/**
 * Write the step's name to @out: @name; if that is NULL, "wsjob-" and 22 random letters and digits. If @csx
 * is not 0, append "-csxN".
 * Returns 0; -EINVAL if @name is too long, or has characters other than letters, digits and . _ - /; or the
 * negative errno of getrandom().
 */
int step_name(char out[STEP_NAME_MAX], const char *name, uint32_t csx, struct err *err);

/**
 * Start srun for a step @name in job @job_id. Returns 0; or -1: then the state is STEP_OVER, and `why` is set.
 */
int step_start(struct step *step, struct arena *arena, const char *name, const char *job_id,
	       char *const envp[]);

/** Write the descriptors to poll into @fds; -1: closed. */
void step_fds(const struct step *step, struct pollfd fds[2]);

/** Read what srun has written so far, and update @step. */
void step_read(struct step *step);

/** Send @status, with which the command has ended, to the step. */
void step_send_status(struct step *step, int status);

/** After srun (step->srun.pid) was reaped: set STEP_OVER, `end` and `why`. @status: from waitpid(). */
void step_reaped(struct step *step, int status);

/** Kill srun. The caller has to reap it and to call step_reaped(). */
void step_kill(struct step *step);
