// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The files of this machine, below the folder that stands for "/". DISTINIT_ROOT names that folder, so a symlink in it
 * may lead to any file. view_open() takes the workload's rights, and nothing else makes a view: therefore a function
 * that takes a view cannot read more than the workload may. `tests/lint/opens.sh` finds code that reads such paths
 * without a view.
 *
 * Only regular files are read, because reading a FIFO could wait forever.
 */

#include "access/access.h"
#include "base/entries.h"

/** Defined in view.c, so that other files cannot make one. */
struct view;

/**
 * Take the workload's rights, until view_close(). @root: NULL or "" for "/". After access_become() a view may stay
 * open, because our rights are the workload's.
 * Returns 0; -EPERM if the workload's rights are not known or cannot be taken.
 */
int view_open(struct access *access, const char *root, struct view **out, struct err *err);

/**
 * Take back our rights. The view finds no file any more. If @view is NULL, do nothing.
 * Returns @r; or, if that fails, a negative errno, and the process must end.
 */
int view_close(struct view *view, int r, struct err *err);

/** The folder that stands for "/"; "" for "/" itself. */
const char *view_root(const struct view *view);

/**
 * Read the regular file @path into @out, and put a NUL after its last byte.
 * Returns 0; -EINVAL if it is not a regular file, -EFBIG for more than @max bytes; or another negative errno.
 */
int view_read(const struct view *view, struct arena *arena, const char *path, size_t max, struct str *out);

/** Read the symlink @path into the arena; NULL on failure. */
const char *view_link(const struct view *view, struct arena *arena, const char *path);

/** Begin to list the folder @path, as entries_open() does. */
void view_entries(const struct view *view, const char *path, struct entries *out);

/** Whether @path exists and the workload can see it. */
bool view_exists(const struct view *view, const char *path);

/** Whether the workload may read and write @path. Does not open it, because that could wake a device. */
bool view_may_use(const struct view *view, const char *path);

/** The size of the regular file @path, in bytes; UINT64_MAX: it is none. */
uint64_t view_size(const struct view *view, const char *path);

/** The size of the file system at @path, in bytes; 0 on failure. */
uint64_t view_capacity(const struct view *view, const char *path);

/**
 * Open the regular file @path, which the command names: a path below "/" itself, not below the view's root. Never
 * waits. Returns the descriptor; -EINVAL if it is not a regular file; or another negative errno.
 */
int view_open_program(const struct view *view, const char *path);
