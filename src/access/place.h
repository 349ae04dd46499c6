// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Where a file is or will be: its folder, opened once, and its name in there. So nobody can
 * exchange a part of the path between two uses of it.
 *
 * A symlink is followed as the kernel does with protected_symlinks, and more strictly by root: a
 * link of another user than us and root, in a folder that others can write, is not followed at all.
 */

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

/** The error for a link that is not followed: these functions have no other use for it. */
#define LINK_OF_OTHERS EXDEV

struct place {
	/** Opened with O_PATH, or for reading by folder_open(). */
	int folder;
	/** Others than us and root can exchange what is in the folder. */
	bool shared;
	/** A link of /proc to an open file: it is followed, and nobody can exchange it. */
	bool magic;
	char name[NAME_MAX + 1];
};

/**
 * Find the place of @path, which may not exist. @follow: go on from the last part if it is a symlink
 * that may be followed. No memory is allocated.
 * Returns 0, and place_close() is due; -LINK_OF_OTHERS; or another negative errno.
 */
int place_find(const char *path, bool follow, struct place *out);

void place_close(const struct place *place);

/** lstat() of it. Returns 0 or a negative errno. */
int place_look(const struct place *place, struct stat *out);

/**
 * Open it. @flags are those of open(); it never waits, follows no link, and takes no terminal.
 * Returns the descriptor or a negative errno.
 */
int place_open(const struct place *place, int flags, mode_t mode);

/** Open the folder @path for reading. Returns the descriptor; a negative errno as for place_find(). */
int folder_open(const char *path);

/** Whether @uid is ours or root's. */
bool is_ours(uid_t uid);
