// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Becoming the workload. */

#include "base/arena.h"
#include "base/err.h"

/** Exit statuses, as env(1) and the shells have them. */
#define EXIT_TIME_LIMIT	  124
#define EXIT_OURS	  125
#define EXIT_NOT_RUNNABLE 126
#define EXIT_NOT_FOUND	  127

/**
 * Become the program @argv[0], in place, with environment @envp. A name without '/' is looked for in @path, the new
 * environment's PATH (NULL: the system's default); a script without "#!" is run by /bin/sh, as execvp() of glibc does.
 *
 * Returns on failure only: EXIT_NOT_FOUND or EXIT_NOT_RUNNABLE, with the sentence in @err.
 */
int exec_program(struct arena *arena, char *const argv[], char *const envp[], const char *path,
		 struct err *err);
