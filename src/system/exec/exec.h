// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Replaces this process by the workload. */

#include "base/arena.h"
#include "base/err.h"

/**
 * Exit statuses, as in timeout(1), env(1) and shells. 124: a time limit has ended the program or a wait. 123 is
 * distinit's own: the program was ended because of another node.
 */
#define EXIT_ANOTHER	  123
#define EXIT_TIME_LIMIT	  124
#define EXIT_OURS	  125
#define EXIT_NOT_RUNNABLE 126
#define EXIT_NOT_FOUND	  127

/**
 * Execute @argv[0] with the environment @envp. If the name has no '/', look it up in @path, the PATH of
 * the new environment; NULL: PATH_DEFAULT. If the file is a script without "#!", run it by /bin/sh, as
 * glibc's execvp() does.
 *
 * Returns only on failure: EXIT_NOT_FOUND or EXIT_NOT_RUNNABLE.
 */
int exec_program(struct arena *arena, char *const argv[], char *const envp[], const char *path,
		 struct err *err);

/** Find the file that exec_program() would execute, without opening it. Returns 0; else as exec_program(). */
int exec_find(struct arena *arena, char *const argv[], const char *path, const char **file, struct err *err);
