// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Replace this process by the workload. */

#include "base/arena.h"
#include "base/err.h"

/** Exit statuses, as in env(1) and shells. */
#define EXIT_TIME_LIMIT	  124
#define EXIT_OURS	  125
#define EXIT_NOT_RUNNABLE 126
#define EXIT_NOT_FOUND	  127

/**
 * Execute @argv[0] with the environment @envp. A name without '/' is looked up in @path, the PATH
 * of the new environment (NULL: the system's default). A script without "#!" is run by /bin/sh, as
 * execvp() of glibc does.
 *
 * Returns only on failure: EXIT_NOT_FOUND or EXIT_NOT_RUNNABLE, with the sentence in @err.
 */
int exec_program(struct arena *arena, char *const argv[], char *const envp[], const char *path,
		 struct err *err);

/** Find the file that exec_program() would execute, without opening it. Returns 0; or as exec_program(). */
int exec_find(struct arena *arena, char *const argv[], const char *path, const char **file, struct err *err);
