// SPDX-License-Identifier: Apache-2.0

#include "srun/budget.h"

#include "access/access.h"
#include "access/place.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/num.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/** Lock timeout, in milliseconds. A run holds the lock briefly, because the file is small. */
#define LOCK_MS 10000

/** Lock timeout for periodic entries, in milliseconds. The next entry makes up for a missed one. */
#define BEAT_LOCK_MS 200

/** The file, of four lines, is shorter than this. */
#define TEXT_MAX 512

/** The contents of a budget file. */
struct book {
	uint64_t limit_ms;
	uint64_t used_ms;
	uint64_t at_ms;
	/** The text as it was read. */
	char text[TEXT_MAX];
	size_t len;
};

static int fail(const struct budget *b, const char *what, int code, struct err *err) {
	return err_set(err, code, "the budget file %s cannot be %s: %s", quote_text(b->path).s, what,
		       access_why(code));
}

/**
 * Parse the text. An empty file is a new budget. Ignore further lines: 0.2.0 wrote some. Returns 0 or -EINVAL.
 */
static int parse(const struct budget *b, struct book *book, struct err *err) {
	static const char *const words[] = {"distrun budget 1", "limit ", "used ", "at "};
	uint64_t *const numbers[] = {NULL, &book->limit_ms, &book->used_ms, &book->at_ms};
	struct str text = {book->text, book->len}, line;
	for (unsigned i = 0; i < 4 && book->len; i++) {
		bool good = str_cut(&text, '\n', &line) && str_starts(line, str_of(words[i]));
		line = str_from(line, good ? strlen(words[i]) : line.len);
		good = good && (i ? num_read(line, INT64_MAX, numbers[i]) == 0 : line.len == 0);
		if (!good) {
			return err_set(
				err, EINVAL,
				"%s:%u: expected '%s%s'; this is not a budget file of distrun, or it is "
				"damaged: remove it to start again",
				b->path, i + 1, words[i], i ? "MILLISECONDS" : "");
		}
	}
	return 0;
}

/** Lock the file @fd. Returns 0; -EAGAIN if another process has the lock, or the file was removed. */
static int lock(const struct budget *b, int fd, struct err *err) {
	struct stat info;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		return errno == EWOULDBLOCK || errno == EINTR ? -EAGAIN : fail(b, "locked", errno, err);
	}
	if (fstat(fd, &info) == 0 && !S_ISREG(info.st_mode)) {
		return err_set(err, EINVAL, "the budget file %s is not a plain file", quote_text(b->path).s);
	}
	return info.st_nlink ? 0 : -EAGAIN;
}

/**
 * Open or create the file, but never through another user's symlink. Returns the descriptor or a negative
 * errno.
 */
static int open_file(const char *path, int flags) {
	struct place place;
	int r = place_find(path, true, &place);
	if (r == 0) {
		r = place_open(&place, flags, 0666);
		place_close(&place);
	}
	return r;
}

/**
 * Open and lock the file; with O_CREAT in @flags, create it if it is absent. Wait up to @wait_ms for the lock. Returns the
 * descriptor or a negative errno.
 */
static int open_locked(const struct budget *b, int flags, uint64_t wait_ms, struct err *err) {
	uint64_t until = clock_now_ms() + wait_ms;
	for (;;) {
		int fd = open_file(b->path, O_RDWR | flags);
		if (fd < 0) {
			return fail(b, "opened", -fd, err);
		}
		int r = lock(b, fd, err);
		if (r == 0) {
			return fd;
		}
		close(fd);
		if (r != -EAGAIN) {
			return r;
		}
		if (clock_now_ms() >= until) {
			return err_set(err, ETIMEDOUT,
				       "the budget file %s is locked by another process; fuser shows which",
				       quote_text(b->path).s);
		}
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	}
}

/** Open, lock and read the file. Returns its descriptor, or a negative errno. */
static int open_book(struct budget *b, int flags, uint64_t wait_ms, struct book *book, struct err *err) {
	int fd = open_locked(b, flags, wait_ms, err), r;
	ssize_t n = 0;
	*book = (struct book){.at_ms = clock_wall_ms()};
	// The file may be on a network file system, whose read() may return only a part.
	while (fd >= 0 && (n = read(fd, book->text + book->len, TEXT_MAX - book->len)) > 0) {
		book->len += (size_t)n;
	}
	if (fd < 0) {
		return fd;
	}
	r = n < 0 ? fail(b, "read", errno, err) : parse(b, book, err);
	if (r < 0) {
		close(fd);
		return r;
	}
	b->limit_ms = b->limit_ms ? b->limit_ms : book->limit_ms;
	b->used_ms = book->used_ms;
	return fd;
}

/** Replace the contents of @fd by @text. Returns 0 or a negative errno. */
static int put(int fd, struct str text) {
	int r = lseek(fd, 0, SEEK_SET) < 0 ? -errno : write_all(fd, text);
	return r == 0 && ftruncate(fd, (off_t)text.len) < 0 ? -errno : r;
}

/**
 * Write @book to the locked file @fd. If that fails, restore the previous contents. Ignore SIGXFSZ meanwhile, so that
 * RLIMIT_FSIZE does not kill us.
 */
static int write_book(const struct budget *b, int fd, const struct book *book, struct err *err) {
	char text[TEXT_MAX];
	int len = snprintf(text, sizeof(text), "distrun budget 1\nlimit %lu\nused %lu\nat %lu\n",
			   (unsigned long)book->limit_ms, (unsigned long)book->used_ms,
			   (unsigned long)book->at_ms);
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	sigaction(SIGXFSZ, &ignore, &before);
	int r = put(fd, (struct str){text, (size_t)len});
	if (r < 0) {
		put(fd, (struct str){book->text, book->len});
	}
	sigaction(SIGXFSZ, &before, NULL);
	return r < 0 ? fail(b, "written", -r, err) : 0;
}

/**
 * Add the time since the last entry of any run, so that the time of several runs counts once. Add at most the
 * time since our own last entry, by the monotonic clock: the time before it was counted already, or this run
 * had not begun. Therefore a wall clock that was set, or that of another machine, does little harm.
 */
static void count(struct budget *b, struct book *book) {
	uint64_t now = clock_wall_ms(), passed = now > book->at_ms ? now - book->at_ms : 0;
	uint64_t mine = clock_now_ms() - b->entered_at;
	book->used_ms += passed < mine ? passed : mine;
	book->at_ms = now;
	b->used_ms = book->used_ms;
}

/** Make an entry. The first one only writes the limit, because the other runs count their time themselves. */
static int enter(struct budget *b, uint64_t wait_ms, struct err *err) {
	struct book book;
	int fd = open_book(b, O_CREAT, wait_ms, &book, err);
	if (fd < 0) {
		return fd;
	}
	book.limit_ms = b->limit_ms;
	if (b->joined) {
		count(b, &book);
	}
	int r = write_book(b, fd, &book, err);
	if (close(fd) < 0 && r == 0) {
		r = fail(b, "written", errno, err);
	}
	if (r == 0) {
		b->entered_at = clock_now_ms();
		b->entered_ms = b->used_ms;
	}
	return r;
}

// --- the interface

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
				       quote_text(path).s, strerror(errno));
		}
		budget->path = arena_format(arena, "%s/%s", here, path);
	}
	struct book book;
	int r = open_book(budget, 0, LOCK_MS, &book, err);
	if (r >= 0) {
		close(r);
	}
	// If there is no file, no time was used.
	r = r >= 0 || r == -ENOENT ? 0 : r;
	if (r == 0 && budget->limit_ms == 0) {
		return err_set(err, EINVAL, "the budget file %s has no limit yet, and none is given",
			       quote_text(budget->path).s);
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
