// SPDX-License-Identifier: Apache-2.0

#include "base/file.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

/** Make room for @n more bytes in @buf. If the text moves, erase the old copy: it may be a secret. */
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
		size_t piece = buf->len > 4096 ? buf->len : 4096;
		ssize_t n = read(fd, reserve_next(buf, piece), piece);
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

int file_read_fd(struct arena *arena, int fd, size_t max, struct str *out) {
	struct buf buf = BUF(arena);
	fcntl(fd, F_SETFL, O_RDONLY);
	int r = read_all(fd, max, &buf);
	if (r == 0) {
		buf_text(&buf);
		*out = buf_str(&buf);
	}
	return r;
}

int file_read_path(struct arena *arena, const char *path, size_t max, struct str *out) {
	// Opening a FIFO without a writer must not block the start. Reading from a slow writer may
	// block.
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		return -errno;
	}
	int r = file_read_fd(arena, fd, max, out);
	close(fd);
	return r;
}

ssize_t file_read_small(const char *path, char *text, size_t size) {
	struct stat info;
	size_t len = 0;
	ssize_t n = 1;
	text[0] = '\0';
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		return -errno;
	}
	int r = fstat(fd, &info) < 0 ? -errno : S_ISREG(info.st_mode) ? 0 : -EINVAL;
	// read() may return only a part, even of the kernel's files.
	while (r == 0 && n > 0 && len < size) {
		n = read(fd, text + len, size - len);
		r = n < 0 && errno != EINTR ? -errno : 0;
		len += n > 0 ? (size_t)n : 0;
		n = n < 0 ? 1 : n;
	}
	close(fd);
	if (len == size) {
		len--;
		r = -EFBIG;
	}
	text[len] = '\0';
	return r < 0 ? r : (ssize_t)len;
}

int file_read(struct arena *arena, const char *what, const char *path, size_t max, struct str *out,
	      struct err *err) {
	int r = file_read_path(arena, path, max, out);
	if (r == -EFBIG) {
		return err_set(err, EFBIG, "%s %s has more than %zu bytes", what, quote_text(path).s, max);
	}
	if (r < 0) {
		return err_set(err, -r, "%s %s cannot be read: %s", what, quote_text(path).s, strerror(-r));
	}
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

ssize_t write_at_once(int fd, struct str text) {
	struct pollfd out = {.fd = fd, .events = POLLOUT};
	if (poll(&out, 1, 0) != 1) {
		return -EAGAIN;
	}
	// If poll() reports room, there is room for PIPE_BUF bytes.
	const ssize_t n = write(fd, text.p, text.len < PIPE_BUF ? text.len : PIPE_BUF);
	return n < 0 ? -errno : n;
}

int file_replace(int folder, const char *name, const char *new, int fd, struct str text, mode_t mode) {
	int r = write_all(fd, text);
	r = r == 0 && fchmod(fd, mode) < 0 ? -errno : r;
	// Some file systems have no fsync().
	r = r == 0 && fsync(fd) < 0 && errno != EINVAL && errno != EROFS ? -errno : r;
	// Close before the rename: a file that is open for writing cannot be executed (ETXTBSY).
	r = close(fd) < 0 && r == 0 ? -errno : r;
	r = r == 0 && renameat(folder, new, folder, name) < 0 ? -errno : r;
	if (r < 0) {
		unlinkat(folder, new, 0);
	}
	return r;
}

void file_reserve_streams(void) {
	struct pollfd streams[] = {{.fd = 0}, {.fd = 1}, {.fd = 2}};
	poll(streams, 3, 0);
	for (int fd = 0; fd <= 2; fd++) {
		// open() returns the lowest free number, that of the closed stream. The placeholder stays
		// open.
		// cppcheck-suppress leakReturnValNotUsed
		if (streams[fd].revents & POLLNVAL && open("/", O_PATH | O_CLOEXEC) != fd) {
			return; // no descriptor can be opened, so none of ours gets this number
		}
	}
}

void file_leave_stream(int fd) {
	const int placeholder = open("/", O_PATH | O_CLOEXEC);
	if (dup3(placeholder, fd, O_CLOEXEC) < 0) {
		close(fd);
	}
	close(placeholder);
}

/** Before Linux 5.9 (no close_range()), only descriptors below this number are closed, one by one. */
#define DESCRIPTORS_MOST 65536

void file_close_range(unsigned from, unsigned last) {
	if (syscall(SYS_close_range, from, last, 0U) == 0) {
		return;
	}
	struct rlimit limit = {.rlim_cur = DESCRIPTORS_MOST};
	prlimit(0, RLIMIT_NOFILE, NULL, &limit);
	for (unsigned fd = from; fd <= last && fd < DESCRIPTORS_MOST && fd < limit.rlim_cur; fd++) {
		close((int)fd);
	}
}

const char *self_path(struct arena *arena) {
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path));
	return n > 0 && (size_t)n < sizeof(path) ? arena_text(arena, path, (size_t)n) : NULL;
}
