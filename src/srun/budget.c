// SPDX-License-Identifier: Apache-2.0

#include "srun/budget.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/num.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/** Lock timeout, in milliseconds. The lock is held only briefly, for one small file. */
#define LOCK_MS 10000

/** Lock timeout for periodic entries, in milliseconds; a missed one is retried with the next. */
#define BEAT_LOCK_MS 200

/** The largest size of what is read and written: four lines. */
#define TEXT_MAX 512

/** The contents of a file. */
struct book {
	uint64_t limit_ms;
	uint64_t used_ms;
	uint64_t at_ms;
};

static int damaged(const struct budget *b, unsigned line, const char *expected, struct err *err) {
	return err_set(err, EINVAL,
		       "%s:%u: %s is expected; it is not a budget file of distrun, or it is damaged: remove "
		       "it to start again",
		       b->path, line, expected);
}

/** Read "WORD NUMBER". */
static bool read_entry(struct str line, struct str word, uint64_t *out) {
	return str_starts(line, word) && num_read(str_from(line, word.len), INT64_MAX, out) == 0;
}

/**
 * Read the file's @text. An empty file is a new budget. What follows the fourth line is of version
 * 0.2.0, and not needed. Returns 0; -EINVAL.
 */
static int read_book(const struct budget *b, struct str text, struct book *out, struct err *err) {
	struct str line;
	*out = (struct book){.at_ms = clock_wall_ms()};
	if (text.len == 0) {
		return 0;
	}
	if (!str_cut(&text, '\n', &line) || !str_is(line, "distrun budget 1")) {
		return damaged(b, 1, "'distrun budget 1'", err);
	}
	if (!str_cut(&text, '\n', &line) || !read_entry(line, STR("limit "), &out->limit_ms)) {
		return damaged(b, 2, "'limit MILLISECONDS'", err);
	}
	if (!str_cut(&text, '\n', &line) || !read_entry(line, STR("used "), &out->used_ms)) {
		return damaged(b, 3, "'used MILLISECONDS'", err);
	}
	if (!str_cut(&text, '\n', &line) || !read_entry(line, STR("at "), &out->at_ms)) {
		return damaged(b, 4, "'at MILLISECONDS'", err);
	}
	return 0;
}

/**
 * Open and lock the file; create it if it does not exist. Wait up to @wait_ms for the lock. Returns
 * the file descriptor of the file that is at the path now; a negative errno.
 */
static int open_locked(const struct budget *b, uint64_t wait_ms, struct err *err) {
	uint64_t until = clock_now_ms() + wait_ms;
	for (;;) {
		int fd = open(b->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
		struct stat opened, there;
		if (fd < 0) {
			int code = errno;
			return err_set(err, code, "the budget file %s cannot be opened: %s",
				       quote(str_of(b->path)).s, strerror(code));
		}
		// The previous lock holder may have replaced the file: then open the new one.
		bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
		if (!locked && errno != EWOULDBLOCK && errno != EINTR) {
			int code = errno;
			close(fd);
			return err_set(err, code, "the budget file %s cannot be locked: %s",
				       quote(str_of(b->path)).s, strerror(code));
		}
		if (locked && fstat(fd, &opened) == 0 && stat(b->path, &there) == 0 &&
		    opened.st_ino == there.st_ino && opened.st_dev == there.st_dev) {
			if (S_ISREG(opened.st_mode)) {
				return fd;
			}
			close(fd);
			return err_set(err, EINVAL, "the budget file %s is not a plain file",
				       quote(str_of(b->path)).s);
		}
		close(fd);
		if (clock_now_ms() >= until) {
			return err_set(err, ETIMEDOUT, "the budget file %s is locked by another process",
				       quote(str_of(b->path)).s);
		}
		if (!locked) {
			nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
		}
	}
}

/**
 * Write all of @text to @fd. If a file size limit is exceeded, this is an error, and SIGXFSZ does
 * not terminate us. Returns 0 or a negative errno.
 */
static int write_whole(int fd, struct str text) {
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	sigaction(SIGXFSZ, &ignore, &before);
	int r = write_all(fd, text);
	sigaction(SIGXFSZ, &before, NULL);
	return r;
}

/**
 * Create the file @new with @text. Remove the leftover of an earlier run first: only the lock
 * holder creates this file.
 */
static int make_new(const char *new, struct str text) {
	unlink(new);
	// If an existing file cannot be removed, it belongs to another user, and opening a FIFO
	// would block for ever. So create the file or fail.
	int fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0) {
		return -errno;
	}
	int r = write_whole(fd, text);
	return close(fd) < 0 && r == 0 ? -errno : r;
}

/** Replace the locked file by @book. */
static int replace(const struct budget *b, const struct book *book, struct err *err) {
	char text[TEXT_MAX], new[4096];
	size_t len = strlen(b->path), size;
	size = (size_t)snprintf(text, sizeof(text), "distrun budget 1\nlimit %lu\nused %lu\nat %lu\n",
				(unsigned long)book->limit_ms, (unsigned long)book->used_ms,
				(unsigned long)book->at_ms);
	if (len + sizeof(".new") > sizeof(new)) {
		return err_set(err, ENAMETOOLONG, "the budget file's name is too long");
	}
	memcpy(new, b->path, len);
	memcpy(new + len, ".new", sizeof(".new"));
	int r = make_new(new, (struct str){text, size});
	if (r == -EEXIST) {
		return err_set(err, EEXIST,
			       "the budget file %s cannot be written: %s is in the way; remove it",
			       quote(str_of(b->path)).s, quote(str_of(new)).s);
	}
	r = r == 0 && rename(new, b->path) < 0 ? -errno : r;
	if (r < 0) {
		unlink(new);
		return err_set(err, -r, "the budget file %s cannot be written: %s", quote(str_of(b->path)).s,
			       strerror(-r));
	}
	return 0;
}

/** Read the locked file @fd. */
static int read_locked(struct budget *b, int fd, struct book *book, struct err *err) {
	char text[TEXT_MAX];
	size_t len = 0;
	ssize_t n;
	// A file of several machines is on a network, which may give it in pieces.
	while ((n = read(fd, text + len, sizeof(text) - len)) > 0) {
		len += (size_t)n;
	}
	if (n < 0) {
		int code = errno;
		return err_set(err, code, "the budget file %s cannot be read: %s", quote(str_of(b->path)).s,
			       strerror(code));
	}
	int r = read_book(b, (struct str){text, len}, book, err);
	if (r == 0) {
		b->limit_ms = b->limit_ms ? b->limit_ms : book->limit_ms;
		b->used_ms = book->used_ms;
	}
	return r;
}

/**
 * Count the time since the last entry, whoever made it: so the time of several runs counts once. Our
 * own last entry is the most that it can be ago, measured on the monotonic clock: before it, this run
 * had not begun, or had counted already; and a clock that was set, or another machine's, does no harm.
 */
static void count(struct budget *b, struct book *book) {
	uint64_t now = clock_wall_ms(), passed = now > book->at_ms ? now - book->at_ms : 0;
	uint64_t mine = clock_now_ms() - b->entered_at;
	book->used_ms += passed < mine ? passed : mine;
	book->at_ms = now;
	b->used_ms = book->used_ms;
}

/** Make an entry. The first only says the limit: the time of others is theirs to count. */
static int enter(struct budget *b, uint64_t wait_ms, struct err *err) {
	struct book book = {0};
	int fd = open_locked(b, wait_ms, err);
	if (fd < 0) {
		return fd;
	}
	int r = read_locked(b, fd, &book, err);
	if (r == 0) {
		book.limit_ms = b->limit_ms;
		if (b->joined) {
			count(b, &book);
		}
		r = replace(b, &book, err);
	}
	if (r == 0) {
		b->entered_at = clock_now_ms();
		b->entered_ms = b->used_ms;
	}
	close(fd);
	return r;
}

/** Read how much was used, and change nothing. */
static int look(struct budget *b, struct err *err) {
	struct book book = {0};
	if (access(b->path, F_OK) < 0 && errno == ENOENT) {
		return 0;
	}
	int fd = open_locked(b, LOCK_MS, err);
	int r = fd < 0 ? fd : read_locked(b, fd, &book, err);
	if (fd >= 0) {
		close(fd);
	}
	return r;
}

// --- for others

int budget_open(struct budget *budget, struct arena *arena, const char *path, uint64_t limit_ms,
		struct err *err) {
	*budget = (struct budget){.limit_ms = limit_ms};
	if (!path) {
		return 0;
	}
	char here[4096];
	budget->path = path;
	if (path[0] != '/') {
		if (!getcwd(here, sizeof(here))) {
			return err_set(err, errno,
				       "the budget file %s: the working directory has no name: %s",
				       quote(str_of(path)).s, strerror(errno));
		}
		budget->path = arena_format(arena, "%s/%s", here, path);
	}
	int r = look(budget, err);
	if (r == 0 && budget->limit_ms == 0) {
		return err_set(err, EINVAL, "the budget file %s has no limit yet, and none is given",
			       quote(str_of(budget->path)).s);
	}
	return r;
}

int budget_join(struct budget *budget, struct err *err) {
	budget->entered_at = clock_now_ms();
	int r = budget->path ? enter(budget, LOCK_MS, err) : 0;
	budget->joined = r == 0 && !budget_is_used_up(budget);
	budget->used_before_ms = r == 0 ? budget->used_ms : 0;
	return r;
}

void budget_beat(struct budget *budget) {
	struct err err;
	if (!budget->path || enter(budget, BEAT_LOCK_MS, &err) < 0) {
		budget->used_ms = budget->entered_ms + clock_now_ms() - budget->entered_at;
	}
}

int budget_leave(struct budget *budget, struct err *err) {
	if (!budget->path) {
		budget_beat(budget);
		return 0;
	}
	int r = enter(budget, LOCK_MS, err);
	budget->joined = budget->joined && r < 0;
	return r;
}
