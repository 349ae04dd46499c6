// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Read small files at fixed paths, as a whole. access/access.h opens the files that settings name. */

#include "base/arena.h"
#include "base/err.h"

#include <sys/types.h>

/**
 * Return @path below @root, the folder that replaces "/". A relative path, or one that is below @root
 * already, is returned unchanged. @root may be NULL.
 */
const char *file_under_root(struct arena *arena, const char *root, const char *path);

/**
 * Read the file @path, of at most @max bytes, into @out, and put a NUL after its last byte. @what is its
 * purpose, for messages, such as "directive file".
 *
 * Returns 0; or the negative errno of the failure: -EISDIR for a directory, -EFBIG for more than @max
 * bytes.
 */
int file_read(struct arena *arena, const char *what, const char *path, size_t max, struct str *out,
	      struct err *err);

/** The same without a message, also for a file that is open. */
int file_read_path(struct arena *arena, const char *path, size_t max, struct str *out);
int file_read_fd(struct arena *arena, int fd, size_t max, struct str *out);

/**
 * Read all of the small file @path into @text, of @size bytes, and put a NUL after its last byte. It
 * allocates nothing and never waits: a file that is not regular, such as a FIFO, is refused (-EINVAL).
 *
 * Returns its length; or a negative errno. After -EFBIG (more than @size - 1 bytes), @text has the first
 * of them; after another error, the bytes read so far.
 */
ssize_t file_read_small(const char *path, char *text, size_t size);

/**
 * Open a placeholder for each closed descriptor from 0 to 2. Otherwise a file or socket of ours could get
 * that number, and receive messages, or be closed as a stream. The placeholder can be neither read nor
 * written, and is close-on-exec, so other programs find the descriptor closed. Call this before anything
 * is opened.
 */
void file_reserve_streams(void);

/** Close the stream @fd, but keep its number reserved. */
void file_leave_stream(int fd);

/** Close the descriptors from @from to @last. Before Linux 5.9, those above 65,535 stay open. */
void file_close_range(unsigned from, unsigned last);

/** This program's path, from /proc/self/exe; NULL if it cannot be read. */
const char *self_path(struct arena *arena);

/** Write all of @text to @fd. Returns 0 or a negative errno. */
int write_all(int fd, struct str text);

/**
 * Write @text to @fd with one call that does not block: at most PIPE_BUF bytes, and nothing if a pipe or
 * terminal is full.
 * Returns the number of bytes; -EAGAIN if it would block; another negative errno.
 */
ssize_t write_at_once(int fd, struct str text);

/**
 * Fill @fd, the new file @new in the folder @folder, with @text, and rename it to @name, which is replaced as a whole. The
 * file is flushed to the disk first, because some file systems report only then that the disk is full. @fd is closed; on
 * failure, the new file is removed. Returns 0 or a negative errno.
 */
int file_replace(int folder, const char *name, const char *new, int fd, struct str text, mode_t mode);
