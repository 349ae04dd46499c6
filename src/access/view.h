// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The files of this machine, below the folder that stands for "/": DISTINIT_ROOT names it, so a link in there may lead
 * to any file. Only view_open() makes a view, and it takes the program's rights first. So whatever needs a view cannot
 * read with more rights than the program will have. `tests/lint/opens.sh` finds what reads such paths without one.
 *
 * Only regular files are read: a FIFO could keep us waiting.
 */

#include "access/access.h"
#include "base/entries.h"

/** What it holds is known to view.c alone: nobody else can make one. */
struct view;

/**
 * Take the program's rights, and see the files below @root, NULL or "" for "/", with them. view_close() gives ours back.
 * After access_become() there is nothing to give back, and a view may stay open.
 * Returns 0; -EPERM if the rights are not known or cannot be taken.
 */
int view_open(struct access *access, const char *root, struct view **out, struct err *err);

/**
 * Take back our rights. The view sees nothing from here on. NULL: does nothing. Returns @r; or the negative errno if that
 * fails, and then this process must end.
 */
int view_close(struct view *view, int r, struct err *err);

/** The folder that was named; "" for "/". */
const char *view_root(const struct view *view);

/**
 * Read the regular file @path, of at most @max bytes, into @out, with a NUL after its last byte.
 * Returns 0; -EINVAL if it is no regular file, -EFBIG; another negative errno.
 */
int view_read(const struct view *view, struct arena *arena, const char *path, size_t max, struct str *out);

/** What the symlink @path says, in the arena; or NULL. */
const char *view_link(const struct view *view, struct arena *arena, const char *path);

/** Begin to list the folder @path, as entries_open() does. */
void view_entries(const struct view *view, const char *path, struct entries *out);

/** Whether @path exists, as far as the program can see. */
bool view_exists(const struct view *view, const char *path);

/** Whether the program may read and write @path. It is not opened: that could wake a device. */
bool view_may_use(const struct view *view, const char *path);

/** The size of the file system at @path, in bytes; 0: there is none. */
uint64_t view_capacity(const struct view *view, const char *path);

/**
 * Open the regular file @path of the command: it is not below the root. It never waits. Returns the descriptor; a
 * negative errno, -EINVAL if it is no regular file.
 */
int view_open_program(const struct view *view, const char *path);
