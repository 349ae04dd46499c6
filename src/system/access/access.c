// SPDX-License-Identifier: Apache-2.0

#include "access/access.h"

#include "access/lower.h"
#include "access/place.h"
#include "base/file.h"
#include "priv/elevated.h"
#include "priv/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct setting setting_under_root(struct arena *arena, const struct setting *root,
				  const struct setting *file) {
	struct setting out = *file;
	out.value = file_under_root(arena, root->value, file->value);
	if (out.value != file->value && root->by != BY_COMMAND_LINE) {
		out.by = root->by;
	}
	return out;
}

int access_lower(const struct access *a, struct err *err) {
	if (a->workload == RIGHTS_SAME) {
		return elevated_lower_root(a->arena, err);
	}
	if (a->workload == RIGHTS_UNKNOWN) {
		return err_set(err, EPERM, "the rights of the workload, which open it, are not known");
	}
	struct err cause, ignored;
	int r = rights_lower(&a->ours, &a->workloads, &cause);
	if (r < 0) {
		rights_restore(&a->ours, &a->workloads, &ignored);
		return err_set(err, EPERM, "%s", cause.text);
	}
	return 0;
}

int access_restore(const struct access *a, int r, struct err *err) {
	int back = a->workload == RIGHTS_FEWER ? rights_restore(&a->ours, &a->workloads, err) : 0;
	return back < 0 ? back : r;
}

int access_become(struct access *a, struct err *err) {
	int r = access_lower(a, err);
	if (r == 0) {
		a->workload = RIGHTS_SAME;
	}
	return r;
}

/** What access_explain() says of files that are read. */
#define OPENED "a file that a variable names is opened"

/** Report that @file is not opened, because of @cause. */
static int not_opened(const char *what, const struct setting *file, const struct err *cause,
		      struct err *err) {
	return err_set(err, EPERM, "%s %s is not opened: %s", what, quote_text(file->value).s, cause->text);
}

int access_explain(const struct access *a, int r, const char *how, struct err *err) {
	if (r != -EACCES || a->workload != RIGHTS_FEWER) {
		return r;
	}
	struct err cause = *err;
	return err_set(err, EACCES, "%s; %s with the rights of the workload, uid %u, gid %u", cause.text, how,
		       a->workloads.uid[ID_EFFECTIVE], a->workloads.gid[ID_EFFECTIVE]);
}

int access_read(struct access *a, struct arena *arena, const char *what, const struct setting *file,
		size_t max, struct str *out, struct err *err) {
	if (setting_by_option(file)) {
		int r = elevated_lower_root(a->arena, err);
		return r < 0 ? r : file_read(arena, what, file->value, max, out, err);
	}
	struct err cause;
	if (access_lower(a, &cause) < 0) {
		return not_opened(what, file, &cause, err);
	}
	int r = file_read(arena, what, file->value, max, out, err);
	return access_restore(a, access_explain(a, r, OPENED, err), err);
}

/** Open the regular file @path, unless a symlink of another user leads there. */
static int open_own(const char *path, struct stat *info) {
	struct place place;
	int r = place_find(path, true, &place);
	if (r < 0) {
		return r;
	}
	int fd = place.magic ? -ELOOP : place_open(&place, O_RDONLY, 0);
	place_close(&place);
	if (fd >= 0 &&
	    (fstat(fd, info) < 0 || !S_ISREG(info->st_mode) || (place.shared && info->st_nlink > 1))) {
		close(fd);
		fd = -EPERM;
	}
	return fd;
}

static int open_any(const char *path, struct stat *info) {
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		return -errno;
	}
	fstat(fd, info);
	return fd;
}

int access_read_secret(struct access *a, struct arena *arena, const char *what, const struct setting *file,
		       size_t max, struct str *out, mode_t *mode, struct err *err) {
	struct stat info = {0};
	struct err cause;
	bool ours = setting_by_option(file);
	if ((ours ? elevated_lower_root(a->arena, &cause) : access_lower(a, &cause)) < 0) {
		return not_opened(what, file, &cause, err);
	}
	int fd = file->by == BY_MANAGER ? open_own(file->value, &info) : open_any(file->value, &info);
	int r = fd < 0 ? fd : file_read_fd(arena, fd, max, out);
	if (r < 0) {
		err_set(err, -r, "%s %s cannot be read: %s", what, quote_text(file->value).s, access_why(r));
	}
	if (fd >= 0) {
		close(fd);
	}
	*mode = info.st_mode;
	return ours ? r : access_restore(a, access_explain(a, r, OPENED, err), err);
}

bool access_exists(struct access *a, const struct setting *file) {
	struct stat info;
	struct err ignored;
	bool ours = setting_by_option(file);
	// An option's file is looked up without elevated_lower_root(): our file's capabilities reveal only
	// that the file exists.
	if (!ours && a->workload != RIGHTS_SAME && access_lower(a, &ignored) < 0) {
		return false;
	}
	int r = stat(file->value, &info);
	return (ours || access_restore(a, 0, &ignored) == 0) && r == 0;
}

int access_folder(const struct setting *folder) {
	return folder_open(folder->value);
}

const char *access_why(int error) {
	switch (error < 0 ? -error : error) {
	case LINK_OF_OTHERS:
		return "a symlink on the way belongs to another user, who can write its folder; "
		       "name the file that it leads to";
	case ENXIO:
		return "no process reads this FIFO, device or socket";
	case EMLINK:
		return "the file has hard links, and another user can write its folder";
	default:
		return strerror(error < 0 ? -error : error);
	}
}
