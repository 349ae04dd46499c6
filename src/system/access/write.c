// SPDX-License-Identifier: Apache-2.0

/** Writes files: always with the workload's rights, and never through another user's symlink. */

#include "access/lower.h"
#include "access/place.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/** How many names are tried for the new file. */
#define TRIES 100

/** How long to wait for the reader of a FIFO, in ms. */
#define READER_MS 1000

/** Random digits in the new file's name. */
#define DIGITS 8

/**
 * Find out whether @path is our stdout or stderr, which may be a socket or another user's file and could then not be
 * opened by its path. Returns the descriptor, 1 or 2; or -1.
 */
static int stream_at(const char *path, const struct stat *there) {
	struct stat ours;
	struct stat link;
	// A regular file is replaced, unless a symlink such as /dev/stdout leads to it.
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

/** Open a FIFO or a device to write. If no process reads the FIFO yet, wait for its reader, up to READER_MS. */
static int open_fifo(const struct place *place) {
	int fd = place_open(place, O_WRONLY, 0);
	for (unsigned i = 0; fd == -ENXIO && i < READER_MS; i += 10) {
		nanosleep(&(struct timespec){.tv_nsec = 10 * 1000000}, NULL);
		fd = place_open(place, O_WRONLY, 0);
	}
	return fd;
}

/**
 * Open a target that is not a regular file. Returns the descriptor; -EEXIST if the target is to be replaced instead,
 * because it is a regular file, a symlink, or absent; or another negative errno.
 */
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
	// The file may have been exchanged since place_look().
	if (fd >= 0 && (fstat(fd, &info) < 0 || S_ISREG(info.st_mode) || !is_ours(info.st_uid))) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

/** Append a '.' and eight random digits to the name of @beside. */
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

/**
 * Make a new file in the folder of @place, and set @beside to it. Returns the descriptor; or a negative errno.
 */
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

/** Replace the file @place by a new one with @text. Returns 0 or a negative errno. */
static int replace(const struct place *place, struct str text, mode_t mode) {
	struct place new;
	int fd = make_beside(place, &new);
	return fd < 0 ? fd : file_replace(place->folder, place->name, new.name, fd, text, mode);
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
	// A symlink to a regular file is replaced. A symlink to a device is followed.
	int r = place_find(path, exists && !S_ISREG(there.st_mode), &place);
	if (r < 0) {
		return r;
	}
	fd = open_special(&place, special);
	if (fd >= 0) {
		fcntl(fd, F_SETFL, O_WRONLY); // without O_NONBLOCK: wait for a slow reader
		r = write_all(fd, text);
		r = close(fd) < 0 && r == 0 ? -errno : r;
	} else {
		r = fd == -EEXIST ? replace(&place, text, mode) : fd;
	}
	place_close(&place);
	return r;
}

/** Report that @file cannot be written: @r, a negative errno, with the reason @why. */
static int cannot_write(const struct setting *file, int r, const char *why, struct err *err) {
	return err_set(err, -r, "%s: %s cannot be written: %s", file->from, quote_text(file->value).s, why);
}

/** Report that @file cannot be written. If the kernel denied it to the workload's rights, name these. */
static int cannot_write_as(const struct access *a, const struct setting *file, int r, struct err *err) {
	cannot_write(file, r,
		     r == -EPERM ? "it belongs to another user, or is not a regular file" : access_why(r),
		     err);
	return access_explain(a, r, "it is written", err);
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

/**
 * Open our stdout or stderr, @stream, once more, so that writing never waits. A socket cannot be opened again: then
 * duplicate @stream.
 */
static int open_stream(int stream) {
	char path[] = "/proc/self/fd/0";
	path[sizeof(path) - 2] = (char)('0' + stream);
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	fd = fd < 0 ? fcntl(stream, F_DUPFD_CLOEXEC, 3) : fd;
	// cppcheck-suppress resourceLeak // the caller closes it
	return fd < 0 ? -errno : fd;
}

/** Check that @fd, the file @place, may be appended to. Returns 0 or a negative errno. */
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
