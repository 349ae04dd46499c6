// SPDX-License-Identifier: Apache-2.0

#include "base/file.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

const char *file_under_root(struct arena *arena, const char *root, const char *path) {
	struct str top = str_of(root);
	while (top.len && top.p[top.len - 1] == '/') {
		top.len--;
	}
	struct str whole = str_of(path);
	bool inside = str_starts(whole, top) && (whole.len == top.len || whole.p[top.len] == '/');
	if (top.len == 0 || path[0] != '/' || inside) {
		return path;
	}
	struct buf buf = BUF(arena);
	buf_put(&buf, top);
	buf_put(&buf, whole);
	return buf_text(&buf);
}

/** Room for more in @buf. It may be a secret: if it moves, nothing stays behind in the old place. */
static char *reserve_next(struct buf *buf, size_t n) {
	char *before = buf->p;
	char *room = buf_reserve(buf, n);
	if (before && buf->p != before) {
		explicit_bzero(before, buf->len);
	}
	return room;
}

/** Read all of @fd into @buf, at most @max bytes. Returns 0 or a negative errno. */
static int read_all(int fd, size_t max, struct buf *buf) {
	for (;;) {
		ssize_t n = read(fd, reserve_next(buf, 4096), 4096);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			return n < 0 ? -errno : 0;
		}
		buf->len += (size_t)n;
		if (buf->len > max) {
			return -EFBIG;
		}
	}
}

int file_read(struct arena *arena, const char *what, const char *path, size_t max, struct str *out,
	      struct err *err) {
	int r = -1;
	struct buf buf = BUF(arena);
	// Opening a FIFO without a writer must not block the start. Reading from a slow writer may
	// block.
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		r = -errno;
	} else {
		fcntl(fd, F_SETFL, O_RDONLY);
		r = read_all(fd, max, &buf);
		close(fd);
	}
	if (r == -EFBIG) {
		return err_set(err, EFBIG, "%s %s has more than %zu bytes", what, quote(str_of(path)).s, max);
	}
	if (r < 0) {
		return err_set(err, -r, "%s %s cannot be read: %s", what, quote(str_of(path)).s,
			       strerror(-r));
	}
	buf_text(&buf);
	*out = buf_str(&buf);
	return 0;
}

int write_all(int fd, struct str text) {
	while (text.len) {
		ssize_t n = write(fd, text.p, text.len);
		if (n < 0 && errno != EINTR) {
			return -errno;
		}
		text = str_from(text, n > 0 ? (size_t)n : 0);
	}
	return 0;
}

/**
 * Whether @there is the file behind our stdout or stderr. If so, *@fd is that descriptor: opening
 * the path would fail for a socket, or for a file of another user.
 */
static bool is_stream(const struct stat *there, int *fd) {
	struct stat ours;
	for (*fd = 1; *fd <= 2; ++*fd) {
		if (fstat(*fd, &ours) == 0 && ours.st_dev == there->st_dev && ours.st_ino == there->st_ino) {
			return true;
		}
	}
	return false;
}

/** Write @text into the existing file @path. Returns 0 or a negative errno. */
static int write_into(const char *path, const struct stat *there, struct str text) {
	int fd;
	if (is_stream(there, &fd)) {
		return write_all(fd, text);
	}
	fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0) {
		return -errno;
	}
	int r = write_all(fd, text);
	return close(fd) < 0 && r == 0 ? -errno : r;
}

/** Replace @path by a new file with @text. Returns 0 or a negative errno. */
static int replace(struct arena *arena, const char *path, struct str text, unsigned mode) {
	char *temporary = arena_format(arena, "%s.XXXXXX", path);
	int fd = mkostemp(temporary, O_CLOEXEC);
	int r = fd < 0 ? -errno : write_all(fd, text);
	r = r == 0 && fchmod(fd, mode) < 0 ? -errno : r;
	r = r == 0 && fsync(fd) < 0 ? -errno : r;
	if (fd >= 0) {
		close(fd); // fsync() has reported what could go wrong
	}
	r = r == 0 && rename(temporary, path) < 0 ? -errno : r;
	if (r < 0 && fd >= 0) {
		unlink(temporary);
	}
	return r;
}

/**
 * Whether to write into @path, not replace it. This holds for a device, a FIFO, a socket, and a
 * symlink to one of these or to a standard stream. Nobody can write into a folder, so that fails.
 * Returns a negative errno if nobody knows.
 */
static int is_written_into(const char *path, struct stat *there) {
	int fd;
	if (stat(path, there) < 0) {
		return errno == ENOENT ? 0 : -errno;
	}
	struct stat link;
	return !S_ISREG(there->st_mode) ||
	       ((lstat(path, &link) < 0 || S_ISLNK(link.st_mode)) && is_stream(there, &fd));
}

int file_write(struct arena *arena, const char *what, const char *path, struct str text, unsigned mode,
	       struct err *err) {
	struct stat there;
	int r = is_written_into(path, &there);
	if (r >= 0) {
		r = r ? write_into(path, &there, text) : replace(arena, path, text, mode);
	}
	return r == 0 ? 0
		      : err_set(err, -r, "%s: %s cannot be written: %s", what, quote(str_of(path)).s,
				strerror(-r));
}
