// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What the kernel says of processes in /proc. Nothing here allocates memory. */

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** /proc/PID/stat. */
struct proc_stat {
	pid_t pid;
	/** Its first 15 bytes. */
	char name[16];
	char state;
	pid_t parent;
	/** Its process group and session; 0: one that our PID namespace does not see. */
	pid_t group;
	pid_t session;
	/** CPU time, in clock ticks; and that of its children that were reaped, which is part of it. */
	uint64_t ticks;
	uint64_t reaped_ticks;
	/** When it started, in clock ticks: with `pid`, this names one process. */
	uint64_t start;
	/** 1: we may not see more of it. */
	uint64_t start_code;
	/** As of waitpid(), of a zombie. */
	uint64_t exit_code;
};

/**
 * Read @text, such a line or its beginning. All up to `reaped_ticks` must be there; the rest is 0 where it is missing.
 * Returns whether it is such a line.
 */
bool proc_stat_parse(struct str text, struct proc_stat *out);

/** Read that of @pid. Returns false if there is no such process, or no /proc. */
bool proc_stat_read(pid_t pid, struct proc_stat *out);

/**
 * Whether the variable @name, of at most 62 bytes, was in the environment that @pid began with. Returns 1 or 0; a negative
 * errno if it cannot be read, -ENODATA if it is empty.
 */
int proc_began_with(pid_t pid, const char *name);

/** As @parent: this process, which has one thread. Then one descriptor is enough. */
#define PROC_OWN 0

/**
 * Call @each for each child of @parent, with @arg. Returns whether the system lists them: it needs
 * CONFIG_PROC_CHILDREN, and that the process exists.
 */
bool proc_children(pid_t parent, void (*each)(void *arg, pid_t child), void *arg);
