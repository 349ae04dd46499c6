// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Small files at fixed paths, read whole. Files that somebody named are opened by access/access.h. */

#include "base/arena.h"
#include "base/err.h"

#include <sys/types.h>

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

/**
 * Read all of the small file @path into @text, of @size bytes, and put a NUL after its last byte. It takes no memory and
 * never waits: what is not a regular file, such as a FIFO, is not read (-EINVAL).
 *
 * Returns its length; a negative errno, -EFBIG if it has more than @size - 1 bytes: then @text has the first of them.
 * After any other failure @text is what could be read before.
 */
ssize_t file_read_small(const char *path, char *text, size_t size);

/**
 * Put a placeholder where one of the descriptors 0 to 2 is closed: an own file or socket that got its number would
 * receive messages, or be closed as a stream. It can be neither read nor written, and is close-on-exec, so other
 * programs find the descriptor closed. Call it before anything is opened.
 */
void file_reserve_streams(void);

/** Close the stream @fd, but keep its number reserved. */
void file_leave_stream(int fd);

/** Close the descriptors from @from to @last. Before Linux 5.9, those above 65,535 stay open. */
void file_close_range(unsigned from, unsigned last);

/** This program's path, from /proc/self/exe; NULL: it cannot be read. */
const char *self_path(struct arena *arena);

/** Write all of @text to @fd. Returns 0 or a negative errno. */
int write_all(int fd, struct str text);

/**
 * Flush the file @fd: a full disk may say so only then. Returns 0, also where the file system has no fsync(); or a negative
 * errno.
 */
int file_flush(int fd);
