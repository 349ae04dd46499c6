// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Runs Slurm's tools (srun, squeue, sinfo), each in a session of its own, so that the terminal sends it no
 * signals.
 */

#include "base/buf.h"
#include "base/err.h"
#include "env/env.h"

#include <sys/types.h>

struct tool {
	/** 0: not running. */
	pid_t pid;
	/**
	 * Our ends of the pipes to the tool's stdin, from its stdout and its stderr; -1: closed. They do not
	 * block.
	 */
	int in;
	int out;
	int err;
};

#define TOOL_NONE ((struct tool){.in = -1, .out = -1, .err = -1})

/**
 * Make the environment for the tools, in the arena: @env without SLURM_*, SBATCH_* and SRUN_*, which could
 * change what the tools do. The variables that identify the cluster and the job remain: SLURM_CONF,
 * SLURM_JOB_ID and SLURM_JOBID, SLURM_JOB_NODELIST and SLURM_NODELIST.
 */
char **tool_environment(struct arena *arena, const struct env *env);

/**
 * Start @argv[0], found in PATH. If signals are blocked or ignored here, they are not in the tool.
 * Returns 0; or a negative errno, such as -ENOENT if the tool is not installed.
 */
int tool_start(struct tool *tool, char *const argv[], char *const envp[], struct err *err);

/** Close the pipes. If the tool is running, kill its process group, and reap it. */
void tool_end(struct tool *tool);

/** Read from *@fd. At end of file, close it and set it to -1. Returns the number of bytes; 0: none now. */
size_t tool_read(int *fd, char *at, size_t size);

/** The end of a tool's stderr. */
struct tool_tail {
	char text[4096];
	size_t len;
};

/** Append @text, which must fit, and drop as much at the beginning. */
void tool_tail_add(struct tool_tail *tail, struct str text);

/**
 * Run @argv, and store its stdout in *@text, in the arena.
 * Returns 0; the negative errno of tool_start(); -ETIMEDOUT if the tool did not end within @timeout_ms and
 * was killed; -EFBIG if it printed more than a megabyte; -EIO if it failed: the message has the last line of
 * its stderr.
 */
int tool_output(struct arena *arena, char *const argv[], char *const envp[], uint64_t timeout_ms,
		struct str *text, struct err *err);

/** Find the last line of @text that is not empty, without the tool's prefix ("srun: ", "srun: error: "). */
struct str tool_last_line(struct str text);
