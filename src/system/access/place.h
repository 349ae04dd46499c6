// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * A file's folder, opened once, and its name in that folder. Nobody can exchange a part of the path
 * between two uses, because the path is walked only once.
 *
 * Symlinks are followed as the kernel follows them with protected_symlinks. Root is stricter: if others
 * can write the folder, root follows no other user's symlink there.
 */

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

/** The error for a symlink that is not followed. These functions return EXDEV for no other reason. */
#define LINK_OF_OTHERS EXDEV

struct place {
	/** A descriptor, opened with O_PATH. */
	int folder;
	/** Users other than us and root can exchange the files in the folder. */
	bool shared;
	/** `name` is a link in /proc to an open file. It is always followed: nobody can exchange it. */
	bool magic;
	char name[NAME_MAX + 1];
};

/**
 * Find folder and name of @path. The file itself may be absent. @follow: if the last part is a symlink,
 * follow that, too. Allocates no memory.
 * Returns 0, and the caller has to call place_close(); -LINK_OF_OTHERS; or another negative errno.
 */
int place_find(const char *path, bool follow, struct place *out);

void place_close(const struct place *place);

/** lstat() the file. Returns 0 or a negative errno. */
int place_look(const struct place *place, struct stat *out);

/**
 * Open the file, with the @flags of open(). Never waits, follows no symlink, and does not make a terminal
 * the controlling one. Returns the descriptor or a negative errno.
 */
int place_open(const struct place *place, int flags, mode_t mode);

/** Open the folder @path for reading. Returns the descriptor; or a negative errno, as place_find(). */
int folder_open(const char *path);

/** Whether @uid is ours or root's. */
bool is_ours(uid_t uid);
