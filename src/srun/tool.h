// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Slurm's tools (srun, squeue, sinfo), each in a session, which the terminal's signals do not reach. */

#include "base/buf.h"
#include "base/err.h"
#include "env/env.h"

#include <sys/types.h>

struct tool {
	/** 0: not running. */
	pid_t pid;
	/** Our ends of the pipes to its stdin, from its stdout and stderr; -1: closed. They do not block. */
	int in;
	int out;
	int err;
};

#define TOOL_NONE ((struct tool){.in = -1, .out = -1, .err = -1})

/**
 * The environment for the tools, in the arena: @env without the SLURM_*, SBATCH_* and SRUN_*
 * variables, which could change what they do. Those that identify the cluster and the job remain:
 * SLURM_CONF, SLURM_JOB_ID and SLURM_JOBID, SLURM_JOB_NODELIST and SLURM_NODELIST.
 */
char **tool_environment(struct arena *arena, const struct env *env);

/**
 * Start @argv[0], found in PATH, even if signals are blocked or ignored here.
 * Returns 0; or a negative errno with @err set, such as -ENOENT if it is not installed.
 */
int tool_start(struct tool *tool, char *const argv[], char *const envp[], struct err *err);

/** Close the pipes. If the tool runs, kill it with its process group, and reap it. */
void tool_end(struct tool *tool);

/** Read what came from *@fd; at end of file, close it and set it to -1. Returns the bytes; 0: none now. */
size_t tool_read(int *fd, char *at, size_t size);

/** The end of a tool's stderr. */
struct tool_tail {
	char text[4096];
	size_t len;
};

/** Append @text, which is not longer than the tail. */
void tool_tail_add(struct tool_tail *tail, struct str text);

/**
 * Run @argv to its end, and store its stdout in *@text, in the arena.
 * Returns 0; or a negative errno with @err set: what starting it failed with; -ETIMEDOUT if it took
 * longer than @timeout_ms and was killed; -EFBIG for more than a megabyte; -EIO if it failed: the
 * message has the last line of its stderr.
 */
int tool_output(struct arena *arena, char *const argv[], char *const envp[], uint64_t timeout_ms,
		struct str *text, struct err *err);

/** The last non-empty line of @text, such as that of a tail, without the tool's prefix, "srun: " or "srun: error: ". */
struct str tool_last_line(struct str text);
