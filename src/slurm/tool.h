// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Slurm's tools (srun, squeue, sinfo), as children of ours in sessions of their own: what a terminal sends does not reach them. */

#include "base/buf.h"
#include "base/err.h"
#include "env/env.h"

#include <sys/types.h>

struct tool {
	/** 0: none runs. */
	pid_t pid;
	/** Our ends of the pipes to its stdin and from its stdout and stderr; -1: closed. They never block. */
	int in;
	int out;
	int err;
};

#define TOOL_NONE ((struct tool){.in = -1, .out = -1, .err = -1})

/**
 * The environment for them: @env without the SLURM_*, SBATCH_* and SRUN_* variables, any of which could steer them, but those that say where
 * Slurm is and which job this is: SLURM_CONF, SLURM_JOB_ID and SLURM_JOBID, SLURM_JOB_NODELIST and SLURM_NODELIST. In the arena.
 */
char **tool_environment(struct arena *arena, const struct env *env);

/**
 * Start @argv[0], looked for in PATH, whatever signals are blocked or ignored here.
 * Returns 0; or a negative errno, such as -ENOENT where it is not installed, with the sentence in @err.
 */
int tool_start(struct tool *tool, char *const argv[], char *const envp[], struct err *err);

/** Close the pipes, kill it with all of its session's group and reap it, if it runs. */
void tool_end(struct tool *tool);

/**
 * Run @argv to its end, and put what it prints on stdout into *@text, in the arena.
 * Returns 0; or a negative errno with the sentence in @err: what could not be started; -ETIMEDOUT where it took longer than @timeout_ms, and
 * was killed; -EFBIG for more than a megabyte; -EIO where it failed: the sentence has the last line of its stderr.
 */
int tool_output(struct arena *arena, char *const argv[], char *const envp[], uint64_t timeout_ms,
		struct str *text, struct err *err);

/** The last line of @text that is not empty, without the tool's own "srun: " or "srun: error: " in front. */
struct str tool_last_line(struct str text);
