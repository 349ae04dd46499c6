// SPDX-License-Identifier: Apache-2.0

#include "flow/clear.h"

#include "access/access.h"
#include "base/entries.h"
#include "base/pattern.h"
#include "net/connect.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/** The most remaining files that one warning names. */
#define NAMED_MAX 8

/** Private codes for reasons why a file stays: the calls below never return them. */
#define NOT_OURS    EXDEV
#define NO_SUCH_USE EMEDIUMTYPE

static const char *why_it_stays(int error) {
	switch (error) {
	case EBUSY:
		return "in use";
	case NOT_OURS:
		return "of another user";
	case NO_SUCH_USE:
		return "neither a regular file nor a socket nor a FIFO";
	case ESTALE:
		return "exchanged meanwhile";
	default:
		return strerror(error);
	}
}

static bool is_same(const struct stat *a, const struct stat *b) {
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_mode == b->st_mode &&
	       a->st_uid == b->st_uid;
}

/**
 * Check that no process has the file @fd open elsewhere, or mapped. Returns 0; -EBUSY; another negative
 * errno.
 */
static int check_file(int fd) {
	// A process that opens the file from here on waits until we close it, and the kernel sends us a
	// signal. SIGIO, the default, would end us; SIGCHLD does not.
	fcntl(fd, F_SETSIG, SIGCHLD);
	int r = fcntl(fd, F_SETLEASE, F_WRLCK) < 0 ? -errno : 0;
	return r == -EAGAIN ? -EBUSY : r;
}

/**
 * Check that no process uses @name, which had the status @info. *@fd: a descriptor to close after the
 * removal, with the lease of a regular file; -1: none. Returns 0; a negative errno.
 */
static int check_use(int folder, const char *name, const struct stat *info, int *fd) {
	const bool file = S_ISREG(info->st_mode), fifo = S_ISFIFO(info->st_mode);
	const int how = file ? O_RDONLY : fifo ? O_WRONLY : O_PATH;
	struct stat now;
	int opened = openat(folder, name, how | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	*fd = opened;
	if (*fd < 0) {
		return fifo && errno == ENXIO ? 0 : errno == EAGAIN ? -EBUSY : -errno;
	}
	if (fstat(*fd, &now) < 0 || !is_same(info, &now)) {
		return -ESTALE;
	}
	return file ? check_file(*fd) : fifo ? -EBUSY : connect_is_dead(*fd);
}

/**
 * Remove @name if no process uses it. Returns 0; -ENOENT; another negative errno: the reason why it
 * stays.
 */
static int clear_file(int folder, const char *name) {
	struct stat info, now;
	int fd = -1;
	if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) < 0) {
		return -errno;
	}
	if (!S_ISREG(info.st_mode) && !S_ISSOCK(info.st_mode) && !S_ISFIFO(info.st_mode)) {
		return -NO_SUCH_USE;
	}
	int r = info.st_uid == geteuid() ? check_use(folder, name, &info, &fd) : -NOT_OURS;
	// unlinkat() removes a name: check that it still means this file.
	if (r == 0 && (fstatat(folder, name, &now, AT_SYMLINK_NOFOLLOW) < 0 || !is_same(&info, &now))) {
		r = -ESTALE;
	}
	if (r == 0 && unlinkat(folder, name, 0) < 0) {
		r = -errno;
	}
	if (fd >= 0) {
		close(fd);
	}
	return r;
}

/**
 * Open the folder of @pattern. Returns the descriptor; -ENOENT; -EPERM if the folder is neither a tmpfs
 * nor sticky.
 */
static int open_folder(const char *label, const struct pattern *pattern, struct err *err) {
	struct statfs fs;
	struct stat info;
	int fd = access_folder(&(struct setting){.value = pattern->folder});
	if (fd == -ENOENT) {
		return fd;
	}
	if (fd < 0) {
		return err_set(err, -fd, "%s=%s: the folder cannot be opened: %s", label,
			       quote_text(pattern->text).s, access_why(fd));
	}
	if (fstatfs(fd, &fs) == 0 && fstat(fd, &info) == 0 &&
	    (fs.f_type == TMPFS_MAGIC || (info.st_mode & S_ISVTX))) {
		return fd;
	}
	close(fd);
	return err_set(err, EPERM,
		       "%s=%s: the folder is neither a tmpfs nor sticky, so its files may be meant to stay; "
		       "expected a folder such as /dev/shm or /tmp",
		       label, quote_text(pattern->text).s);
}

/**
 * Remove the files that @pattern matches, and close @folder. @folder: a descriptor, or the negative errno
 * of opening it.
 */
static void clear_folder(const char *label, const struct pattern *pattern, int folder, struct notes *notes,
			 uint32_t *removed) {
	struct buf stay = BUF(notes->arena);
	struct entries all = {.fd = folder, .error = folder < 0 ? -folder : 0};
	uint32_t n = 0;
	for (const char *name; (name = entries_next(&all));) {
		int r = pattern_matches(pattern, name) ? clear_file(folder, name) : -ENOENT;
		*removed += r == 0;
		if (r < 0 && r != -ENOENT && n++ < NAMED_MAX) {
			buf_putf(&stay, "%s%s (%s)", n > 1 ? ", " : "", quote_text(name).s, why_it_stays(-r));
		}
	}
	if (n > NAMED_MAX) {
		buf_putf(&stay, ", and %u more", n - NAMED_MAX);
	}
	if (all.error) {
		buf_putf(&stay, "%sthe folder: %s", n ? ", " : "", strerror(all.error));
	}
	if (n || all.error) {
		notes_add(notes, "%s=%s: left out: %s", label, quote_text(pattern->text).s, buf_text(&stay));
	}
}

int clear_files(const char *label, const char *list, struct notes *notes, uint32_t *removed,
		struct err *err) {
	struct pattern pattern;
	struct str word;
	// Check all patterns and folders before anything is removed.
	for (int removes = 0; removes <= 1; removes++) {
		for (struct str rest = str_of(list); str_cut(&rest, ',', &word);) {
			int r = pattern_read(notes->arena, label, word, "/dev/shm/nccl-*", &pattern, err);
			int folder = r < 0 ? r : open_folder(label, &pattern, err);
			if (folder < 0 && folder != -ENOENT) {
				return folder;
			}
			if (removes) {
				clear_folder(label, &pattern, folder, notes, removed);
			} else if (folder >= 0) {
				close(folder);
			}
		}
	}
	return 0;
}
