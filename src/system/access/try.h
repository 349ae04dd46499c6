// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Tries whether the workload can use a folder, in a child process. If a file system does not answer, the child blocks, and no
 * signal ends a process in the kernel's D state. So nobody waits for the child.
 */

#include "access/view.h"

#include <sys/types.h>

/** What has failed. */
enum try_step { TRY_ALL_WELL, TRY_OPEN, TRY_LIST, TRY_CREATE, TRY_WRITE, TRY_REMOVE };

struct try_answer {
	enum try_step step;
	/** errno of that step. */
	int code;
};

struct folder_try {
	/** Readable when the child has answered, or has ended; -1: there is no child. */
	int fd;
	pid_t pid;
};

/**
 * Begin to try the folder @path, a path below "/" itself. @write: a file with a name that begins with ".distinit-" is made there,
 * written and removed; else the folder is listed. Returns 0; a negative errno.
 */
int folder_try_begin(const struct view *view, const char *path, bool write, struct folder_try *out);

/** Read the child's answer, and reap it. Returns 0; -EAGAIN if it has not answered; -ECHILD if it ended without an answer. */
int folder_try_read(struct folder_try *folder, struct try_answer *out);

/** Kill the child, if there is one, and do not wait for it. */
void folder_try_end(struct folder_try *folder);
