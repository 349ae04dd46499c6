// SPDX-License-Identifier: Apache-2.0

#pragma once

/** A command to measure: a program, its arguments and all of its environment, ready for execve(). */
struct bench_case {
	/** The program's path and its arguments, then NULL. */
	char **argv;
	/** `NAME=VALUE` strings, then NULL. */
	char **envp;
};

/**
 * Read a case from a file of strings that end with a NUL each: the program's path and its arguments,
 * an empty string, the environment. It stays in memory until the program ends.
 *
 * Returns 0, or -1 with errno set; EINVAL if the file is not such a list.
 */
int bench_case_read(const char *path, struct bench_case *out);
