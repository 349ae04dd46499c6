// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Starts another program as a child that inherits no signal mask and no ignored signals from this process. */

#include <stdbool.h>
#include <sys/types.h>

struct spawn {
	/** The program, looked up in PATH, with its arguments and environment; each ends with NULL. */
	char *const *argv;
	char *const *envp;
	/** The descriptors that become its stdin, stdout and stderr. -1: stdin is /dev/null, the others are inherited. */
	int streams[3];
	/** It gets a session of its own; otherwise, a process group of its own. */
	bool in_session;
};

/** Start @program. Returns 0 with *@pid set, or a negative errno, such as -ENOENT. */
int spawn(const struct spawn *program, pid_t *pid);
