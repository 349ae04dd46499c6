// SPDX-License-Identifier: Apache-2.0

#include "srun/mounts.h"

#include "base/buf.h"

#include <errno.h>
#include <sys/stat.h>

/** Check that @path is absolute and can stand in a list. *@out: without a '/' at the end, and without "//". */
static int tidy(struct arena *arena, const char *from, struct str path, const char **out, struct err *err) {
	if (path.len == 0 || path.p[0] != '/') {
		return err_set(err, EINVAL, "%s: %s is not an absolute path such as '/data'", from,
			       quote(path).s);
	}
	if (str_find(path, ',') < path.len || str_find(path, ':') < path.len) {
		return err_set(err, EINVAL,
			       "%s: %s: container runtimes cannot mount a path with a ',' or ':'", from,
			       quote(path).s);
	}
	struct buf buf = BUF(arena);
	for (size_t i = 0; i < path.len; i++) {
		bool ends = path.p[i] == '/' && (i + 1 == path.len || path.p[i + 1] == '/');
		if (!ends) {
			buf_putc(&buf, path.p[i]);
		}
	}
	*out = buf.len ? buf_text(&buf) : "/";
	return 0;
}

/** Add @mount, whose paths are tidy, unless it was added already. Returns 0 or -EINVAL. */
static int fold(struct mounts *mounts, const struct mount *mount, struct err *err) {
	for (size_t i = 0; i < mounts->n; i++) {
		struct mount *other = &mounts->at[i];
		if (strcmp(other->target, mount->target) != 0) {
			continue;
		}
		if (strcmp(other->source, mount->source) != 0) {
			return err_set(err, EINVAL, "%s: %s and %s (%s) cannot both be mounted at %s",
				       mount->from, quote_text(mount->source).s, quote_text(other->source).s,
				       other->from, quote_text(mount->target).s);
		}
		// If one of the two wants to write, mount the folder for reading and writing.
		other->read_only &= mount->read_only;
		return 0;
	}
	mounts->at = arena_more(mounts->arena, mounts->at, mounts->n, &mounts->cap, sizeof(*mounts->at));
	mounts->at[mounts->n++] = *mount;
	return 0;
}

int mounts_add_one(struct mounts *mounts, const struct mount *mount, struct err *err) {
	struct mount tidied = *mount;
	int r = tidy(mounts->arena, mount->from, str_of(mount->source), &tidied.source, err);
	r = r < 0 ? r : tidy(mounts->arena, mount->from, str_of(mount->target), &tidied.target, err);
	return r < 0 ? r : fold(mounts, &tidied, err);
}

int mounts_add(struct mounts *mounts, const char *from, struct str list, struct err *err) {
	struct str piece;
	while (str_cut(&list, ',', &piece)) {
		struct str whole = piece = str_trim(piece), source, target, option;
		if (piece.len == 0) {
			continue;
		}
		str_cut(&piece, ':', &source);
		bool has_target = str_cut(&piece, ':', &target), has_option = str_cut(&piece, ':', &option);
		if (piece.p || (has_option && !str_is(option, "ro") && !str_is(option, "rw"))) {
			return err_set(err, EINVAL,
				       "%s: %s: expected SOURCE, SOURCE:TARGET or SOURCE:TARGET:ro", from,
				       quote(whole).s);
		}
		struct mount mount = {.source = "",
				      .target = "",
				      .from = from,
				      .read_only = has_option && str_is(option, "ro")};
		int r = tidy(mounts->arena, from, source, &mount.source, err);
		r = r < 0 ? r : tidy(mounts->arena, from, has_target ? target : source, &mount.target, err);
		r = r < 0 ? r : fold(mounts, &mount, err);
		if (r < 0) {
			return r;
		}
	}
	return 0;
}

int mounts_check(const struct mounts *mounts, struct err *err) {
	for (size_t i = 0; i < mounts->n; i++) {
		const struct mount *mount = &mounts->at[i];
		struct stat info;
		if (stat(mount->source, &info) < 0) {
			int code = errno;
			return err_set(err, code, "%s: %s cannot be mounted: %s", mount->from,
				       quote_text(mount->source).s, strerror(code));
		}
	}
	return 0;
}

const char *mounts_inside(const struct mounts *mounts, const char *path) {
	const struct mount *best = NULL;
	size_t longest = 0;
	for (size_t i = 0; i < mounts->n; i++) {
		const struct mount *mount = &mounts->at[i];
		size_t len = strcmp(mount->source, "/") == 0 ? 0 : strlen(mount->source);
		bool within = strncmp(path, mount->source, len) == 0 && (path[len] == '/' || !path[len]);
		if (within && (!best || len >= longest)) {
			best = mount;
			longest = len;
		}
	}
	if (!best) {
		return NULL;
	}
	const char *target = strcmp(best->target, "/") == 0 ? "" : best->target;
	return arena_format(mounts->arena, "%s%s", target, path + longest);
}
