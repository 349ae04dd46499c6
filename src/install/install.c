// SPDX-License-Identifier: Apache-2.0

/**
 * The copy is made in a file without a name, where the file system has such, so that whatever ends us on the way leaves nothing behind.
 * Only a whole one gets a name. Elsewhere it has the name INSTALL_NEW from the beginning.
 *
 * No call puts a file without a name in the place of another: where there is one already, that takes a second name for a moment,
 * INSTALL_NEW again. So that two runs at once do not take it for each other's, the folder is locked; and a run that has the lock may
 * remove what it finds by that name.
 */

#include "install/install.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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

/** Wait until no other run is at work in the folder. The lock ends with this process. */
static int lock_folder(struct install *in) {
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_MS * 1000000};
	for (int i = 0; flock(in->folder_fd, LOCK_EX | LOCK_NB) < 0; i++) {
		if (errno != EWOULDBLOCK) {
			// A file system without locks: then two runs at once are the user's to avoid.
			return 0;
		}
		if (i == LOCK_TRIES) {
			return err_set(in->err, EWOULDBLOCK, "another process has %s locked",
				       quote(str_of(in->folder)).s);
		}
		nanosleep(&pause, NULL);
	}
	return 0;
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

/** Whether it is there, just as it is to be. */
static bool is_installed(const struct install *in) {
	struct stat info;
	int fd = openat(in->folder_fd, INSTALL_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool same = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
		    (info.st_mode & 07777) == INSTALL_MODE && (size_t)info.st_size == in->size &&
		    is_same(fd, in->self_fd, in->size);
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

/** The text of a link to @fd. */
static void fd_link(char link[40], int fd) {
	static const char folder[] = "/proc/self/fd/";
	char digits[12];
	int n = 0;
	memcpy(link, folder, sizeof(folder));
	link += sizeof(folder) - 1;
	do {
		digits[n++] = (char)('0' + fd % 10);
		fd /= 10;
	} while (fd);
	while (n) {
		*link++ = digits[--n];
	}
	*link = '\0';
}

/** Put the whole file INSTALL_NEW in its place. Returns 0 or a negative errno. */
static int rename_new(const struct install *in) {
	return renameat(in->folder_fd, INSTALL_NEW, in->folder_fd, INSTALL_NAME) < 0 ? -errno : 0;
}

static int link_as(const struct install *in, const char *link, const char *name) {
	return linkat(AT_FDCWD, link, in->folder_fd, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

/**
 * Give the file without a name @fd its name. It is closed for writing before: a program that somebody has open for that cannot be
 * started. Returns 0 or a negative errno; @fd is closed.
 */
static int give_name(const struct install *in, int fd) {
	char link[40];
	fd_link(link, fd);
	int reader = open(link, O_RDONLY | O_CLOEXEC);
	int code = errno;
	close(fd);
	if (reader < 0) {
		return -code;
	}
	fd_link(link, reader);
	int r = link_as(in, link, INSTALL_NAME);
	if (r == -EEXIST) {
		r = link_as(in, link, INSTALL_NEW);
		r = r < 0 ? r : rename_new(in);
	}
	close(reader);
	return r;
}

/** Make a whole copy in a file that has a name from the beginning, and put it in its place. Returns 0 or a negative errno. */
static int make_named(const struct install *in) {
	int fd = openat(in->folder_fd, INSTALL_NEW, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0700);
	if (fd < 0) {
		return -errno;
	}
	int r = fill(in, fd);
	close(fd);
	return r < 0 ? r : rename_new(in);
}

/** Likewise, in a file without a name. *@knows: whether the file system has such, and links. */
static int make_unnamed(const struct install *in, bool *knows) {
	int fd = openat(in->folder_fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0700);
	if (fd < 0) {
		// What does not know O_TMPFILE sees a folder that is to be opened for writing.
		*knows = errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL && errno != ENOENT;
		return -errno;
	}
	int r = fill(in, fd);
	if (r < 0) {
		close(fd);
		return r;
	}
	r = give_name(in, fd);
	// Some that have such files cannot give them a name, as they have no links; each says it in its own way.
	*knows = r == 0 || r == -EISDIR || r == -ENOSPC || r == -EDQUOT;
	return r;
}

/** Make a whole copy, and put it in its place. Returns 0 or a negative errno. */
static int make(const struct install *in) {
	bool knows = true;
	int r = make_unnamed(in, &knows);
	if (!knows) {
		unlinkat(in->folder_fd, INSTALL_NEW, 0);
		r = lseek(in->self_fd, 0, SEEK_SET) < 0 ? -errno : make_named(in);
	}
	return r;
}

static int replace(const struct install *in) {
	if (unlinkat(in->folder_fd, INSTALL_NEW, 0) < 0 && errno != ENOENT) {
		int code = errno;
		return refuse(in, code, code == EROFS ? "" : "; what is " INSTALL_NEW " there?");
	}
	int r = make(in);
	if (r < 0) {
		unlinkat(in->folder_fd, INSTALL_NEW, 0);
		return refuse(in, -r, r == -EISDIR ? "; a folder of that name is in the way" : "");
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
	r = r < 0 ? r : lock_folder(&in);
	if (r == 0) {
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
