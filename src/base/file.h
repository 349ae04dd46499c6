// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Small files, read and written whole. */

#include "base/arena.h"
#include "base/err.h"

/**
 * Return where @path is to be looked for when @root stands for "/": a relative path, and one that lies under
 * @root already, are taken as they are. @root may be NULL.
 */
const char *file_under_root(struct arena *arena, const char *root, const char *path);

/**
 * Read the file @path, of at most @max bytes, into @out, which gets a NUL behind its last byte.
 * @what names its purpose in the message, such as "directive file".
 *
 * Returns 0, or the negative errno of what failed: -EISDIR for a folder, -EFBIG for more than @max bytes.
 */
int file_read(struct arena *arena, const char *what, const char *path, size_t max, struct str *out,
	      struct err *err);

/** Write all of @text to @fd. Returns 0 or a negative errno. */
int write_all(int fd, struct str text);

/**
 * Write @text to @path by way of a new file beside it, so that no reader sees half of it, with permissions @mode. A device, a FIFO, a
 * socket that is one of our standard streams, and what a symlink to these leads to (/dev/stdout) are written into instead.
 * @what names its purpose in the message, such as "--output".
 *
 * Returns 0, or the negative errno of what failed: @path is then as it was.
 */
int file_write(struct arena *arena, const char *what, const char *path, struct str text, unsigned mode,
	       struct err *err);
