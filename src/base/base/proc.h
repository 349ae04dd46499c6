// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Facts about processes, from /proc. Nothing here allocates memory. */

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** /proc/PID/stat. */
struct proc_stat {
	pid_t pid;
	/** The first 15 bytes of the program's name. */
	char name[16];
	char state;
	pid_t parent;
	/** Process group and session; 0 if it is outside of our PID namespace. */
	pid_t group;
	pid_t session;
	/** CPU time in clock ticks. `ticks` includes `reaped_ticks`, the time of reaped children. */
	uint64_t ticks;
	uint64_t reaped_ticks;
	/** Start time in clock ticks. `pid` and `start` together identify a process. */
	uint64_t start;
	/** The address of the program's code; 1: the kernel hides it from us. */
	uint64_t start_code;
	/** A zombie's status, in the form of waitpid(). */
	uint64_t exit_code;
};

/**
 * Parse @text, the line of /proc/PID/stat or its beginning. All fields up to `reaped_ticks` are required;
 * other missing fields are 0. Returns false if it is not such a line.
 */
bool proc_stat_parse(struct str text, struct proc_stat *out);

/** Read /proc/PID/stat of @pid. Returns false if there is no such process, or no /proc. */
bool proc_stat_read(pid_t pid, struct proc_stat *out);

/**
 * Whether the variable @name, of at most 62 bytes, was in the environment that @pid began with. Returns 1
 * or 0; or a negative errno if that cannot be read, -ENODATA if it is empty.
 */
int proc_began_with(pid_t pid, const char *name);

/** As @parent: this process, which must have one thread. The search then needs only one descriptor. */
#define PROC_OWN 0

/**
 * Call @each, with @arg, for each number in the file @path, whose numbers are PIDs, each with a blank behind
 * it. Returns false if it cannot be read.
 */
bool proc_numbers(const char *path, void (*each)(void *arg, pid_t pid), void *arg);

/**
 * Call @each, with @arg, for each child of @parent. Returns false if the kernel does not list them:
 * without CONFIG_PROC_CHILDREN, or if the process does not exist.
 */
bool proc_children(pid_t parent, void (*each)(void *arg, pid_t child), void *arg);
