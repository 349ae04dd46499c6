// SPDX-License-Identifier: Apache-2.0

/**
 * The copy is written to ".NAME.new" in the same folder, and renamed when it is complete. If a run is
 * killed, it may leave ".NAME.new" behind; the next run replaces it. The folder is locked, so that two
 * runs at once do not delete each other's file.
 *
 * If another process keeps the folder locked, or ".NAME.new" cannot be removed, the new file gets a
 * random name instead, so that it needs no lock.
 */

#include "install/install.h"

#include "access/access.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define INSTALL_MODE 0555

/** More than any build of this program has. */
#define PROGRAM_MAX (64U << 20)

/** How often to try to get the lock: 10 s in all. A run holds it for milliseconds only. */
#define LOCK_TRIES    1000
#define LOCK_PAUSE_MS 10

struct install {
	const char *folder;
	int folder_fd;
	struct arena *arena;
	/** The bytes of this program. */
	struct str self;
	/** The name of the file, and the name that it has until it is complete. */
	const char *name;
	char new[INSTALL_NAME_MAX + sizeof("..new.01234567")];
	struct err *err;
};

/** Report that the file cannot be written: @code, an errno; @way_out: "", or "; ...". */
static int cannot_write(const struct install *in, int code, const char *way_out) {
	return err_set(in->err, code, "%s cannot be written in %s: %s%s", in->name, quote_text(in->folder).s,
		       strerror(code), way_out);
}

static int read_self(struct install *in) {
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int r = fd < 0 ? -errno : file_read_fd(in->arena, fd, PROGRAM_MAX, &in->self);
	if (fd >= 0) {
		close(fd);
	}
	if (r < 0) {
		return err_set(in->err, -r,
			       "this program cannot read itself from /proc/self/exe: %s; mount /proc, or "
			       "copy the file when the image is built",
			       strerror(-r));
	}
	return 0;
}

static int open_folder(struct install *in) {
	const struct setting folder = {in->folder, "install", BY_COMMAND_LINE};
	in->folder_fd = access_folder(&folder);
	if (in->folder_fd >= 0) {
		return 0;
	}
	int code = -in->folder_fd;
	bool is_file = code == ENOTDIR;
	return err_set(in->err, code, "the folder %s cannot be opened: %s%s%s", quote_text(in->folder).s,
		       access_why(code),
		       code == ENOENT ? "; create it first, or mount a volume there"
		       : is_file      ? "; expected a folder, into which this program is copied as "
				      : "",
		       is_file ? in->name : "");
}

/** Set the name of the new file. @random: append 8 random digits, so that no other run has the same name. */
static void name_new(struct install *in, bool random) {
	uint32_t number;
	int n = snprintf(in->new, sizeof(in->new), ".%s.new", in->name);
	if (random) {
		if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number)) {
			number = (uint32_t)getpid();
		}
		snprintf(in->new + n, sizeof(in->new) - (size_t)n, ".%08x", number);
	}
}

/** Wait until no other run has the lock, and take it until this process ends. Returns whether that succeeded. */
static bool lock_folder(const struct install *in) {
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_MS * 1000000};
	for (int i = 0; flock(in->folder_fd, LOCK_EX | LOCK_NB) < 0; i++) {
		// The file system has no locks, or another process holds the lock longer than a run needs it.
		if (errno != EWOULDBLOCK || i == LOCK_TRIES) {
			return false;
		}
		nanosleep(&pause, NULL);
	}
	return true;
}

/**
 * Whether @owner is neither we nor root: such an owner could change the file, which we or root would then run.
 */
static bool is_foreign(uid_t owner) {
	return owner != geteuid() && owner != 0;
}

/** Whether the file is installed already, with the right contents, mode and owner. */
static bool is_installed(const struct install *in) {
	struct stat info;
	struct str there;
	int fd = openat(in->folder_fd, in->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool same = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
		    (info.st_mode & 07777) == INSTALL_MODE && !is_foreign(info.st_uid) &&
		    (size_t)info.st_size == in->self.len &&
		    file_read_fd(in->arena, fd, in->self.len, &there) == 0 && str_eq(there, in->self);
	if (fd >= 0) {
		close(fd);
	}
	return same;
}

/**
 * Create the new file, and replace the one that a killed run left. Returns the descriptor or a negative errno.
 */
static int open_new(const struct install *in) {
	unlinkat(in->folder_fd, in->new, 0);
	int fd = openat(in->folder_fd, in->new, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0700);
	// cppcheck-suppress resourceLeak // the caller closes it
	return fd < 0 ? -errno : fd;
}

/** Replace the file. Returns 1 or a negative errno. */
static int replace(struct install *in) {
	int fd = open_new(in);
	if (fd == -EEXIST) {
		name_new(in, true);
		fd = open_new(in);
	}
	int r = fd < 0 ? fd : file_replace(in->folder_fd, in->name, in->new, fd, in->self, INSTALL_MODE);
	if (r < 0) {
		return cannot_write(in, -r,
				    r == -EISDIR  ? "; a folder with that name exists"
				    : r == -EPERM ? "; does the existing file belong to another user?"
						  : "");
	}
	return 1;
}

static void note_noexec(const struct install *in, struct notes *notes) {
	struct statfs info;
	if (fstatfs(in->folder_fd, &info) == 0 && (info.f_flags & ST_NOEXEC)) {
		notes_add(notes,
			  "programs in %s cannot be run, because it is mounted noexec; "
			  "mount it without noexec where they are used",
			  quote_text(in->folder).s);
	}
}

int install_self(struct arena *arena, const char *folder, const char *name, struct notes *notes,
		 struct err *err) {
	struct install in = {.folder = folder, .name = name, .folder_fd = -1, .arena = arena, .err = err};
	int r = open_folder(&in);
	r = r < 0 ? r : read_self(&in);
	if (r == 0) {
		name_new(&in, !lock_folder(&in));
		r = is_installed(&in) ? 0 : replace(&in);
	}
	if (r >= 0) {
		note_noexec(&in, notes);
	}
	if (in.folder_fd >= 0) {
		close(in.folder_fd);
	}
	return r;
}
