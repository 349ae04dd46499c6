// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Small files at fixed paths, read whole. Files that somebody named are opened by access/access.h. */

#include "base/arena.h"
#include "base/err.h"

/**
 * Return @path below @root, the directory that stands for "/". A relative path, and one below @root
 * already, are returned as they are. @root may be NULL.
 */
const char *file_under_root(struct arena *arena, const char *root, const char *path);

/**
 * Read the file @path, of at most @max bytes, into @out, and put a NUL after its last byte. @what
 * names its purpose in messages, such as "directive file".
 *
 * Returns 0, or the negative errno of the failure: -EISDIR for a directory, -EFBIG for more than
 * @max bytes.
 */
int file_read(struct arena *arena, const char *what, const char *path, size_t max, struct str *out,
	      struct err *err);

/** The same without a message, also for a file that is open. */
int file_read_path(struct arena *arena, const char *path, size_t max, struct str *out);
int file_read_fd(struct arena *arena, int fd, size_t max, struct str *out);

/** This program's path, from /proc/self/exe; NULL: it cannot be read. */
const char *self_path(struct arena *arena);

/** Write all of @text to @fd. Returns 0 or a negative errno. */
int write_all(int fd, struct str text);
