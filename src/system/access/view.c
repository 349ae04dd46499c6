// SPDX-License-Identifier: Apache-2.0

#include "access/view.h"

#include "access/lower.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

struct view {
	const struct access *access;
	const char *root;
	/** view_close() was called: no file is found any more. */
	bool closed;
};

int view_open(struct access *a, const char *root, struct view **out, struct err *err) {
	int r = access_lower(a, err);
	if (r == 0) {
		struct view *view = arena_alloc(a->arena, sizeof(*view));
		*view = (struct view){a, root && *root ? root : NULL, false};
		*out = view;
	}
	return r;
}

int view_close(struct view *view, int r, struct err *err) {
	if (!view) {
		return r;
	}
	view->closed = true;
	return access_restore(view->access, r, err);
}

const char *view_root(const struct view *view) {
	return view->root ? view->root : "";
}

/** Put @path below the root. If the view is closed, return "", which names no file. */
static const char *under(const struct view *view, const char *path) {
	return view->closed ? "" : file_under_root(view->access->arena, view->root, path);
}

/** Open the regular file @path. Returns the descriptor or a negative errno. */
static int open_regular(const char *path) {
	struct stat info;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		return -errno;
	}
	if (fstat(fd, &info) < 0 || !S_ISREG(info.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}

int view_read(const struct view *view, struct arena *arena, const char *path, size_t max, struct str *out) {
	int fd = open_regular(under(view, path));
	if (fd < 0) {
		return fd;
	}
	int r = file_read_fd(arena, fd, max, out);
	close(fd);
	return r;
}

const char *view_link(const struct view *view, struct arena *arena, const char *path) {
	char to[4096];
	ssize_t n = readlink(under(view, path), to, sizeof(to));
	return n > 0 && (size_t)n < sizeof(to) ? arena_text(arena, to, (size_t)n) : NULL;
}

void view_entries(const struct view *view, const char *path, struct entries *out) {
	entries_open(out, under(view, path));
}

bool view_exists(const struct view *view, const char *path) {
	return access_allows(under(view, path), F_OK) == 0;
}

bool view_may_use(const struct view *view, const char *path) {
	return access_allows(under(view, path), R_OK | W_OK) == 0;
}

uint64_t view_size(const struct view *view, const char *path) {
	struct stat info;
	return stat(under(view, path), &info) == 0 && S_ISREG(info.st_mode) ? (uint64_t)info.st_size
									    : UINT64_MAX;
}

uint64_t view_capacity(const struct view *view, const char *path) {
	struct statfs fs;
	return statfs(under(view, path), &fs) == 0 ? (uint64_t)fs.f_blocks * (uint64_t)fs.f_frsize : 0;
}

int view_open_program(const struct view *view, const char *path) {
	return open_regular(view->closed ? "" : path);
}
