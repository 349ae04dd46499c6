// SPDX-License-Identifier: Apache-2.0

/**
 * The copy is made in a file beside it, INSTALL_NEW, which gets its name once it is whole. A run that is killed may leave that file behind; the
 * next one replaces it. The folder is locked, so that two runs at once do not take each other's file for a leftover.
 *
 * Others may hold a lock on the folder, or have something by that name there that cannot be removed. Then the new file has a
 * random name, and needs no lock.
 */

#include "install/install.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define INSTALL_NEW  "." INSTALL_NAME ".new"
#define INSTALL_MODE 0555

/** How long another run may have the lock: it needs milliseconds for what it does. */
#define LOCK_TRIES    1000
#define LOCK_PAUSE_MS 10

struct install {
	const char *folder;
	int folder_fd;
	/** This program. */
	int self_fd;
	size_t size;
	/** What the new file is called until it is whole. */
	char new[sizeof(INSTALL_NEW) + 9];
	struct err *err;
};

/** Set the sentence about the place that is written to. */
static int refuse(const struct install *in, int code, const char *way_out) {
	return err_set(in->err, code, "%s cannot be written in %s: %s%s", INSTALL_NAME,
		       quote(str_of(in->folder)).s, strerror(code), way_out);
}

static int open_self(struct install *in) {
	struct stat info;
	in->self_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (in->self_fd < 0 || fstat(in->self_fd, &info) < 0) {
		return err_set(in->err, errno,
			       "this program cannot read itself from /proc/self/exe: %s; mount /proc, or "
			       "copy the file "
			       "when the image is built",
			       strerror(errno));
	}
	in->size = (size_t)info.st_size;
	return 0;
}

static int open_folder(struct install *in) {
	in->folder_fd = open(in->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (in->folder_fd >= 0) {
		return 0;
	}
	int code = errno;
	return err_set(in->err, code, "the folder %s cannot be opened: %s%s", quote(str_of(in->folder)).s,
		       strerror(code),
		       code == ENOENT ? "; make it first, or mount a volume there"
		       : code == ENOTDIR
			       ? "; a folder is expected, in which the file is then called " INSTALL_NAME
			       : "");
}

/** Name the new file. @random: by 8 digits that no other run has. */
static void name_new(struct install *in, bool random) {
	static const char hex[] = "0123456789abcdef";
	const unsigned char *bytes = (const unsigned char *)getauxval(AT_RANDOM);
	memcpy(in->new, INSTALL_NEW, sizeof(INSTALL_NEW));
	if (random) {
		char *at = in->new + sizeof(INSTALL_NEW) - 1;
		*at++ = '.';
		for (int i = 0; i < 8; i++) {
			*at++ = hex[bytes ? bytes[i] & 15 : (unsigned)getpid() >> 4 * i & 15];
		}
		*at = '\0';
	}
}

/** Wait until no other run is at work in the folder. Returns whether it is locked for us; the lock ends with this process. */
static bool lock_folder(const struct install *in) {
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_MS * 1000000};
	for (int i = 0; flock(in->folder_fd, LOCK_EX | LOCK_NB) < 0; i++) {
		// A file system without locks; or somebody who takes longer than any run.
		if (errno != EWOULDBLOCK || i == LOCK_TRIES) {
			return false;
		}
		nanosleep(&pause, NULL);
	}
	return true;
}

/** Whether the @size bytes of @a and @b are the same. What cannot be read is not. */
static bool is_same(int a, int b, size_t size) {
	char at_a[4096], at_b[sizeof(at_a)];
	for (size_t at = 0; at < size;) {
		ssize_t n = pread(a, at_a, sizeof(at_a), (off_t)at);
		if (n <= 0 || pread(b, at_b, (size_t)n, (off_t)at) != n ||
		    memcmp(at_a, at_b, (size_t)n) != 0) {
			return false;
		}
		at += (size_t)n;
	}
	return true;
}

/** Whether a file of @owner may change behind our back: in a folder such as /tmp, where each keeps what is his own. */
static bool is_foreign(const struct install *in, uid_t owner) {
	struct stat folder;
	return owner != geteuid() && owner != 0 &&
	       (fstat(in->folder_fd, &folder) < 0 || (folder.st_mode & S_ISVTX));
}

/** Whether it is there, just as it is to be. */
static bool is_installed(const struct install *in) {
	struct stat info;
	int fd = openat(in->folder_fd, INSTALL_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool same = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
		    (info.st_mode & 07777) == INSTALL_MODE && !is_foreign(in, info.st_uid) &&
		    (size_t)info.st_size == in->size && is_same(fd, in->self_fd, in->size);
	if (fd >= 0) {
		close(fd);
	}
	return same;
}

/** Write all of the @len bytes at @text. Returns 0 or a negative errno. */
static int put(int fd, const char *text, size_t len) {
	while (len) {
		ssize_t n = write(fd, text, len);
		if (n < 0 && errno != EINTR) {
			return -errno;
		}
		text += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/** Copy the rest of @from by way of our own memory. */
static int copy_by_hand(int from, int to) {
	char buf[4096];
	for (;;) {
		ssize_t n = read(from, buf, sizeof(buf));
		if (n < 0 && errno == EINTR) {
			continue;
		}
		int r = n < 0 ? -errno : put(to, buf, (size_t)n);
		if (n == 0 || r < 0) {
			return r;
		}
	}
}

/** Copy this program to @to, by the kernel as far as it does so between these two file systems. Returns 0 or a negative errno. */
static int copy(const struct install *in, int to) {
	ssize_t n;
	do {
		n = copy_file_range(in->self_fd, NULL, to, NULL, in->size, 0);
	} while (n > 0);
	if (n < 0 && errno == ENOSPC) {
		return -ENOSPC;
	}
	// Whatever else it refuses, or does not know, is for read() and write() to find out. They go on where it stopped.
	return copy_by_hand(in->self_fd, to);
}

/** Fill the new file @fd, down to the disk: a full one may say so only then. Returns 0 or a negative errno. */
static int fill(const struct install *in, int fd) {
	struct stat info;
	int r = copy(in, fd);
	r = r == 0 && fchmod(fd, INSTALL_MODE) < 0 ? -errno : r;
	// Not all file systems know it.
	r = r == 0 && fsync(fd) < 0 && errno != EINVAL && errno != EROFS ? -errno : r;
	r = r == 0 && fstat(fd, &info) < 0 ? -errno : r;
	return r == 0 && (size_t)info.st_size != in->size ? -EIO : r;
}

/** Open the new file. What a run left behind that was killed goes first. Returns the descriptor or a negative errno. */
static int open_new(const struct install *in) {
	unlinkat(in->folder_fd, in->new, 0);
	int fd = openat(in->folder_fd, in->new, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0700);
	return fd < 0 ? -errno : fd;
}

/** Make a whole copy, and put it in its place. Returns 0 or a negative errno. */
static int make(struct install *in) {
	int fd = open_new(in);
	if (fd == -EEXIST) {
		name_new(in, true);
		fd = open_new(in);
	}
	if (fd < 0) {
		return fd;
	}
	int r = fill(in, fd);
	// Closed before it has its name: a program that somebody has open for writing cannot be started.
	r = close(fd) < 0 && r == 0 ? -errno : r;
	if (r == 0 && renameat(in->folder_fd, in->new, in->folder_fd, INSTALL_NAME) < 0) {
		r = -errno;
	}
	if (r < 0) {
		unlinkat(in->folder_fd, in->new, 0);
	}
	return r;
}

static int replace(struct install *in) {
	int r = make(in);
	if (r < 0) {
		return refuse(in, -r,
			      r == -EISDIR  ? "; a folder of that name is in the way"
			      : r == -EPERM ? "; is what is there another user's?"
					    : "");
	}
	return 1;
}

static void note_noexec(const struct install *in, struct notes *notes) {
	struct statvfs info;
	if (fstatvfs(in->folder_fd, &info) == 0 && (info.f_flag & ST_NOEXEC)) {
		notes_add(notes,
			  "nothing can be run from %s, which is mounted noexec: mount it without, where it "
			  "is used",
			  quote(str_of(in->folder)).s);
	}
}

int install_self(const char *folder, struct notes *notes, struct err *err) {
	struct install in = {.folder = folder, .folder_fd = -1, .self_fd = -1, .err = err};
	int r = open_folder(&in);
	r = r < 0 ? r : open_self(&in);
	if (r == 0) {
		name_new(&in, !lock_folder(&in));
		r = is_installed(&in) ? 0 : replace(&in);
	}
	if (r >= 0) {
		note_noexec(&in, notes);
	}
	if (in.self_fd >= 0) {
		close(in.self_fd);
	}
	if (in.folder_fd >= 0) {
		close(in.folder_fd);
	}
	return r;
}
