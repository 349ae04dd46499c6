// SPDX-License-Identifier: Apache-2.0

/** Writes files: always with the rights of the program, and never behind somebody else's link. */

#include "access/lower.h"
#include "access/place.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/** How often another name is tried for the new file. */
#define TRIES 100

/** How long the reader of a FIFO may take to come, in ms. */
#define READER_MS 1000

/** Of its name. */
#define DIGITS 8

/** Our stdout or stderr, if @path is that; else -1. A socket or a foreign file cannot be opened by path. */
static int stream_at(const char *path, const struct stat *there) {
	struct stat ours;
	struct stat link;
	// A regular file that is named itself is replaced.
	if (S_ISREG(there->st_mode) && lstat(path, &link) == 0 && !S_ISLNK(link.st_mode)) {
		return -1;
	}
	for (int fd = 1; fd <= 2; fd++) {
		if (fstat(fd, &ours) == 0 && ours.st_dev == there->st_dev && ours.st_ino == there->st_ino) {
			return fd;
		}
	}
	return -1;
}

/** Open it to write. The reader of a FIFO may just be starting, so it has a moment to come. */
static int open_fifo(const struct place *place) {
	int fd = place_open(place, O_WRONLY, 0);
	for (unsigned i = 0; fd == -ENXIO && i < READER_MS; i += 10) {
		nanosleep(&(struct timespec){.tv_nsec = 10 * 1000000}, NULL);
		fd = place_open(place, O_WRONLY, 0);
	}
	return fd;
}

/** Open what is no regular file. Returns the descriptor; -EEXIST: it is to be replaced; a negative errno. */
static int open_special(const struct place *place, enum special special) {
	struct stat info;
	int r = place_look(place, &info);
	if (r < 0 || S_ISREG(info.st_mode) || S_ISLNK(info.st_mode)) {
		return r == 0 || r == -ENOENT ? -EEXIST : r;
	}
	if (S_ISDIR(info.st_mode)) {
		return -EISDIR;
	}
	if (special == SPECIAL_NONE || !is_ours(info.st_uid)) {
		return -EPERM;
	}
	int fd = open_fifo(place);
	// It may have been exchanged since.
	if (fd >= 0 && (fstat(fd, &info) < 0 || S_ISREG(info.st_mode) || !is_ours(info.st_uid))) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

static int write_special(int fd, struct str text) {
	fcntl(fd, F_SETFL, O_WRONLY); // a slow reader is waited for
	int r = write_all(fd, text);
	return close(fd) < 0 && r == 0 ? -errno : r;
}

/** Put a '.' and eight random digits behind the name of @beside. */
static void name_beside(struct place *beside, unsigned attempt) {
	static const char hex[] = "0123456789abcdef";
	uint32_t number = attempt;
	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0) {
		number = (uint32_t)getpid() + attempt;
	}
	size_t len = strlen(beside->name), room = NAME_MAX - DIGITS - 1;
	char *at = beside->name + (len < room ? len : room);
	*at++ = '.';
	for (unsigned i = 0; i < DIGITS; i++) {
		*at++ = hex[number >> 4 * i & 15];
	}
	*at = '\0';
}

/** Make a new file in the folder of @place, and set @beside to it. Returns the descriptor; a negative errno. */
static int make_beside(const struct place *place, struct place *beside) {
	int fd = -EEXIST;
	for (unsigned i = 0; fd == -EEXIST && i < TRIES; i++) {
		*beside = *place;
		beside->magic = false;
		name_beside(beside, i);
		fd = place_open(beside, O_WRONLY | O_CREAT | O_EXCL, 0600);
	}
	return fd;
}

/** Replace what is at @place by a new file with @text. Returns 0 or a negative errno. */
static int replace(const struct place *place, struct str text, mode_t mode) {
	struct place new;
	int fd = make_beside(place, &new);
	int r = fd < 0 ? fd : write_all(fd, text);
	r = r == 0 && fchmod(fd, mode) < 0 ? -errno : r;
	r = r < 0 ? r : file_flush(fd);
	if (fd >= 0) {
		close(fd); // file_flush() has reported what could go wrong
	}
	r = r == 0 && renameat(place->folder, new.name, place->folder, place->name) < 0 ? -errno : r;
	if (r < 0 && fd >= 0) {
		unlinkat(place->folder, new.name, 0);
	}
	return r;
}

static int write_at(const struct place *place, struct str text, mode_t mode, enum special special) {
	int fd = open_special(place, special);
	return fd >= 0 ? write_special(fd, text) : fd == -EEXIST ? replace(place, text, mode) : fd;
}

/** Write the file @path with the rights that we have now. Returns 0 or a negative errno. */
static int write_path(const char *path, struct str text, mode_t mode, enum special special) {
	struct stat there;
	bool exists = stat(path, &there) == 0;
	if (!exists && errno != ENOENT) {
		return -errno;
	}
	int fd = exists ? stream_at(path, &there) : -1;
	if (fd >= 0) {
		return write_all(fd, text);
	}
	struct place place;
	// A link to a file is replaced, one to a device is followed.
	int r = place_find(path, exists && !S_ISREG(there.st_mode), &place);
	if (r == 0) {
		r = write_at(&place, text, mode, special);
		place_close(&place);
	}
	return r;
}

/** Write the message for @r, which is of writing @file. */
static int cannot_write(const struct setting *file, int r, const char *why, struct err *err) {
	return err_set(err, -r, "%s: %s cannot be written: %s", file->from, quote_text(file->value).s, why);
}

/** Explain a denial by the rights of the program. */
static int cannot_write_as(const struct access *a, const struct setting *file, int r, struct err *err) {
	cannot_write(file, r,
		     r == -EPERM ? "it belongs to somebody else, or is no regular file" : access_why(r), err);
	if (r == -EACCES && a->program == RIGHTS_FEWER) {
		struct err cause = *err;
		err_set(err, EACCES, "%s; it is written with the rights of the workload, uid %u, gid %u",
			cause.text, a->programs.uid[ID_EFFECTIVE], a->programs.gid[ID_EFFECTIVE]);
	}
	return r;
}

int access_write(struct access *a, const struct setting *file, struct str text, mode_t mode,
		 enum special special, struct err *err) {
	struct err cause;
	if (access_lower(a, &cause) < 0) {
		return cannot_write(file, -EPERM, cause.text, err);
	}
	int r = write_path(file->value, text, mode, special);
	r = r < 0 ? cannot_write_as(a, file, r, err) : 0;
	return access_restore(a, r, err);
}

// --- appending

/** Open our stdout or stderr @stream once more, so that it never waits; a socket cannot be. */
static int open_stream(int stream) {
	char path[] = "/proc/self/fd/0";
	path[sizeof(path) - 2] = (char)('0' + stream);
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	fd = fd < 0 ? fcntl(stream, F_DUPFD_CLOEXEC, 3) : fd;
	// cppcheck-suppress resourceLeak // the caller closes it
	return fd < 0 ? -errno : fd;
}

/** Whether the open file may be appended to. Returns 0 or a negative errno. */
static int check_append(const struct place *place, int fd, enum append how) {
	struct stat info;
	if (fstat(fd, &info) < 0) {
		return -errno;
	}
	if (S_ISREG(info.st_mode)) {
		return place->shared && info.st_nlink > 1 ? -EMLINK : 0;
	}
	return how == APPEND_MAKE && is_ours(info.st_uid) ? 0 : -EPERM;
}

static int open_append(const struct place *place, enum append how) {
	mode_t before = umask(0);
	int fd = place_open(place, O_WRONLY | O_APPEND | (how == APPEND_MAKE ? O_CREAT : 0), 0644);
	umask(before);
	int r = fd < 0 ? fd : check_append(place, fd, how);
	if (fd >= 0 && r < 0) {
		close(fd);
	}
	return r < 0 ? r : fd;
}

/** Open @path with the rights that we have now. Returns the descriptor or a negative errno. */
static int append_path(const char *path, enum append how) {
	struct stat there;
	int stream = how == APPEND_MAKE && stat(path, &there) == 0 ? stream_at(path, &there) : -1;
	if (stream >= 0) {
		return open_stream(stream);
	}
	struct place place;
	int r = place_find(path, how == APPEND_MAKE, &place);
	if (r == 0) {
		r = open_append(&place, how);
		place_close(&place);
	}
	return r;
}

int access_append(struct access *a, const struct setting *file, enum append how, struct err *err) {
	struct err cause;
	if (access_lower(a, &cause) < 0) {
		return cannot_write(file, -EPERM, cause.text, err);
	}
	int fd = append_path(file->value, how);
	if (fd < 0) {
		cannot_write_as(a, file, fd, err);
	}
	int r = access_restore(a, fd, err);
	if (r < 0 && fd >= 0) {
		close(fd);
	}
	return r;
}

int access_append_constant(const char *path) {
	return append_path(path, APPEND_EXISTING);
}
