// SPDX-License-Identifier: Apache-2.0

#include "access/place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/vfs.h>
#include <unistd.h>

/** The kernel follows as many symlinks. */
#define LINKS_MAX 40

/** A walk along a path. */
struct walk {
	/** The folder that is reached, opened with O_PATH; -1: none yet. */
	int at;
	/** The status of `at`. */
	struct stat folder;
	/** The part of the path that is still to be walked. */
	char rest[PATH_MAX];
	/** How many symlinks were followed. */
	unsigned links;
};

bool is_ours(uid_t uid) {
	// With an invalid id, setfsuid() changes nothing and returns the uid by which we open files.
	return uid == 0 || uid == (uid_t)setfsuid((uid_t)-1);
}

static bool is_shared(const struct stat *folder) {
	return !is_ours(folder->st_uid) || (folder->st_mode & (S_IWGRP | S_IWOTH));
}

/** Whether the symlink @link, in the folder that @w has reached, may be followed (place.h). */
static bool may_follow(const struct walk *w, const struct stat *link) {
	const mode_t sticky = S_ISVTX | S_IWOTH;
	if (is_ours(link->st_uid)) {
		return true;
	}
	// The link's owner could trick root into writing where the owner may not, so root is stricter.
	return (uid_t)setfsuid((uid_t)-1) == 0
		       ? !is_shared(&w->folder)
		       : (w->folder.st_mode & sticky) != sticky || w->folder.st_uid == link->st_uid;
}

/** Go into the folder @fd, and close the one before. Returns 0 or a negative errno. */
static int enter(struct walk *w, int fd) {
	if (fd < 0) {
		return -errno;
	}
	if (w->at >= 0) {
		close(w->at);
	}
	w->at = fd;
	if (fstat(fd, &w->folder) < 0) {
		return -errno;
	}
	return S_ISDIR(w->folder.st_mode) ? 0 : -ENOTDIR;
}

/** Begin at "/" if `rest` is absolute, else in the working directory. */
static int enter_start(struct walk *w) {
	return enter(w, open(w->rest[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/** Put the text of the symlink @fd in front of `rest`. Returns 0 or a negative errno. */
static int follow_link(struct walk *w, int fd) {
	char text[PATH_MAX];
	size_t rest = strlen(w->rest) + 1;
	ssize_t n = readlinkat(fd, "", text, sizeof(text));
	if (n <= 0) {
		return n < 0 ? -errno : -ENOENT;
	}
	if ((size_t)n + 1 + rest > sizeof(w->rest)) {
		return -ENAMETOOLONG;
	}
	memmove(w->rest + n + 1, w->rest, rest);
	memcpy(w->rest, text, (size_t)n);
	w->rest[n] = '/';
	if (rest == 1) {
		w->rest[n] = '\0';
	}
	return text[0] == '/' ? enter_start(w) : 0;
}

static bool in_proc(const struct walk *w) {
	struct statfs info;
	return fstatfs(w->at, &info) == 0 && info.f_type == PROC_SUPER_MAGIC;
}

/** Move the next part of the path to @name. Returns its length; 0 at the end; or a negative errno. */
static int next_part(struct walk *w, char name[NAME_MAX + 1]) {
	size_t start = strspn(w->rest, "/"), len = strcspn(w->rest + start, "/");
	if (len > NAME_MAX) {
		return -ENAMETOOLONG;
	}
	memcpy(name, w->rest + start, len);
	name[len] = '\0';
	memmove(w->rest, w->rest + start + len, strlen(w->rest + start + len) + 1);
	return (int)len;
}

/** Open @name in the folder; if it is a symlink, open the symlink itself. */
static int open_part(const struct walk *w, const char *name) {
	int fd = openat(w->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	// cppcheck-suppress resourceLeak // the caller closes it
	return fd < 0 ? -errno : fd;
}

/** Follow the symlink @fd if that is allowed, and close @fd. Returns 0 or a negative errno. */
static int take_link(struct walk *w, int fd, const struct stat *link) {
	int r = !may_follow(w, link) ? -LINK_OF_OTHERS : w->links++ < LINKS_MAX ? follow_link(w, fd) : -ELOOP;
	close(fd);
	return r;
}

/** Go into the folder @name, or follow the symlink @name. Returns 0 or a negative errno. */
static int walk_step(struct walk *w, const char *name) {
	struct stat info;
	int fd = open_part(w, name);
	if (fd < 0) {
		return fd;
	}
	if (fstat(fd, &info) < 0 || !S_ISLNK(info.st_mode)) {
		return enter(w, fd);
	}
	if (in_proc(w)) {
		// The kernel resolves it: its text may not be a path, and nobody can exchange it.
		close(fd);
		return enter(w, openat(w->at, name, O_PATH | O_DIRECTORY | O_CLOEXEC));
	}
	return take_link(w, fd, &info);
}

/**
 * Look at @name, the last part. Returns 1 if it stays the last; 0 after following a symlink; or a negative
 * errno.
 */
static int step_last(struct walk *w, const char *name, bool *magic) {
	struct stat info;
	int fd = open_part(w, name);
	if (fd == -ENOENT) {
		return 1;
	}
	if (fd < 0) {
		return fd;
	}
	bool link = fstat(fd, &info) == 0 && S_ISLNK(info.st_mode);
	*magic = link && in_proc(w);
	if (!link || *magic) {
		close(fd);
		return 1;
	}
	return take_link(w, fd, &info);
}

/**
 * Walk along @path. If @place is not NULL, stop before the last part and put its name there; else go into that, too.
 * Returns 0 or a negative errno.
 */
static int walk(struct walk *w, const char *path, bool follow, struct place *place) {
	char name[NAME_MAX + 1];
	size_t len = strlen(path);
	if (len >= sizeof(w->rest)) {
		return -ENAMETOOLONG;
	}
	memcpy(w->rest, path, len + 1);
	int r = len ? enter_start(w) : -ENOENT;
	while (r == 0) {
		int n = next_part(w, name);
		bool last = n <= 0 || w->rest[0] == '\0';
		if (n < 0 || (n == 0 && !place)) {
			return n;
		}
		if (!last || !place) {
			r = walk_step(w, name);
			continue;
		}
		r = follow && n ? step_last(w, name, &place->magic) : 1;
		memcpy(place->name, n ? name : ".", n ? (size_t)n + 1 : 2);
	}
	return r < 0 ? r : 0;
}

int place_find(const char *path, bool follow, struct place *out) {
	struct walk w = {.at = -1};
	*out = (struct place){.folder = -1};
	int r = walk(&w, path, follow, out);
	if (r < 0 && w.at >= 0) {
		close(w.at);
	}
	if (r == 0) {
		out->folder = w.at;
		out->shared = is_shared(&w.folder);
	}
	return r;
}

void place_close(const struct place *place) {
	close(place->folder);
}

int place_look(const struct place *place, struct stat *out) {
	return fstatat(place->folder, place->name, out, place->magic ? 0 : AT_SYMLINK_NOFOLLOW) < 0 ? -errno
												    : 0;
}

int place_open(const struct place *place, int flags, mode_t mode) {
	int all = flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (place->magic ? 0 : O_NOFOLLOW);
	int fd = openat(place->folder, place->name, all, mode);
	// cppcheck-suppress resourceLeak // the caller closes it
	return fd < 0 ? -errno : fd;
}

int folder_open(const char *path) {
	struct walk w = {.at = -1};
	int r = walk(&w, path, true, NULL);
	if (r == 0) {
		int fd = openat(w.at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		r = fd < 0 ? -errno : fd;
		// cppcheck-suppress resourceLeak // the caller closes it
	}
	if (w.at >= 0) {
		close(w.at);
	}
	return r;
}
