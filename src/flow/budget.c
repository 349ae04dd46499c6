// SPDX-License-Identifier: Apache-2.0

#include "flow/budget.h"

#include "base/buf.h"
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

/**
 * If a run on another machine makes no entry for this time, in milliseconds, it counts as dead. So
 * this is also the longest time between two entries.
 */
#define SILENT_MS 10000

/** The largest size of the file, and the largest number of runs in it. */
#define FILE_MAX 32768
#define RUNS_MAX 256

/** The contents of a file. Texts point into it. */
struct book {
	uint64_t limit_ms;
	uint64_t used_ms;
	uint64_t at_ms;
	uint32_t n_runs;
	struct run {
		/** "PLACE PID START". */
		struct str name;
		uint64_t at_ms;
	} runs[RUNS_MAX];
};

static uint64_t clock_of(clockid_t id) {
	struct timespec now;
	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/**
 * Read the start of @path into @at, which has @size bytes, and add a NUL. Returns the number of
 * bytes read.
 */
static size_t read_start(const char *path, char *at, size_t size) {
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, at, size - 1);
	if (fd >= 0) {
		close(fd);
	}
	at[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/** The start time of process @pid in the kernel's clock ticks; 0: there is no such process. */
static uint64_t start_of(uint64_t pid) {
	char path[40] = "/proc/", text[1024];
	size_t len = 6 + num_write(path + 6, pid);
	memcpy(path + len, "/stat", 6);
	struct str rest = {text, read_start(path, text, sizeof(text))}, word;
	size_t close = rest.len;
	while (close > 0 && rest.p[close - 1] != ')') {
		close--;
	}
	rest = str_from(rest, close);
	uint64_t start = 0;
	// The process name, field 2, may contain blanks. The start time is field 22.
	for (int i = 2; i <= 22 && str_cut(&rest, ' ', &word); i++) {
		if (i == 22 && num_read(word, UINT64_MAX, &start) < 0) {
			start = 0;
		}
	}
	return start;
}

/** The machine's boot id and our PID namespace: PIDs are comparable only within both. */
static char *place_of_us(struct arena *arena) {
	char boot[64], space[64];
	size_t len = read_start("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
	ssize_t n = readlink("/proc/self/ns/pid", space, sizeof(space));
	struct str id = str_trim((struct str){boot, len ? str_find((struct str){boot, len}, '\n') : 0});
	return arena_format(arena, "%.*s/%.*s", (int)id.len, id.p, n > 0 ? (int)n : 0, space);
}

static char *run_of_us(struct arena *arena) {
	uint64_t pid = (uint64_t)getpid();
	return arena_format(arena, "%s %lu %lu", place_of_us(arena), (unsigned long)pid,
			    (unsigned long)start_of(pid));
}

// --- the file

static int refuse(const struct budget *b, unsigned line, const char *expected, struct err *err) {
	return err_set(err, EINVAL,
		       "%s:%u: %s is expected; it is not a budget file of distrun, or it is damaged: remove "
		       "it to start again",
		       b->path, line, expected);
}

/** Read "WORD NUMBER". */
static bool read_entry(struct str line, struct str word, uint64_t *out) {
	return str_starts(line, word) && num_read(str_from(line, word.len), INT64_MAX, out) == 0;
}

/** Read "run PLACE PID START AT". */
static bool read_run(struct str line, struct run *out) {
	size_t last = line.len, blanks = 0;
	for (size_t i = 0; i < line.len; i++) {
		blanks += line.p[i] == ' ';
	}
	while (last > 0 && line.p[last - 1] != ' ') {
		last--;
	}
	if (!str_starts(line, STR("run ")) || blanks != 4) {
		return false;
	}
	out->name = (struct str){line.p + 4, last - 5};
	return num_read(str_from(line, last), INT64_MAX, &out->at_ms) == 0;
}

/** Read the file's @text. An empty file is a new budget. Returns 0; -EINVAL. */
static int read_book(const struct budget *b, struct str text, struct book *out, struct err *err) {
	struct str line;
	*out = (struct book){.at_ms = clock_of(CLOCK_REALTIME)};
	if (text.len == 0) {
		return 0;
	}
	if (!str_cut(&text, '\n', &line) || !str_is(line, "distrun budget 1")) {
		return refuse(b, 1, "'distrun budget 1'", err);
	}
	if (!str_cut(&text, '\n', &line) || !read_entry(line, STR("limit "), &out->limit_ms)) {
		return refuse(b, 2, "'limit MILLISECONDS'", err);
	}
	if (!str_cut(&text, '\n', &line) || !read_entry(line, STR("used "), &out->used_ms)) {
		return refuse(b, 3, "'used MILLISECONDS'", err);
	}
	if (!str_cut(&text, '\n', &line) || !read_entry(line, STR("at "), &out->at_ms)) {
		return refuse(b, 4, "'at MILLISECONDS'", err);
	}
	for (unsigned n = 5; str_cut(&text, '\n', &line) && (line.len || text.p); n++) {
		if (out->n_runs == RUNS_MAX || !read_run(line, &out->runs[out->n_runs++])) {
			return refuse(b, n, "'run PLACE PID START MILLISECONDS'", err);
		}
	}
	return 0;
}

/**
 * Open and lock the file; create it if it does not exist. Wait up to @wait_ms for the lock. Returns
 * the file descriptor of the file that is at the path now; a negative errno.
 */
static int open_locked(const struct budget *b, uint64_t wait_ms, struct err *err) {
	uint64_t until = clock_of(CLOCK_MONOTONIC) + wait_ms;
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
		if (clock_of(CLOCK_MONOTONIC) >= until) {
			return err_set(err, ETIMEDOUT, "the budget file %s is locked by another process",
				       quote(str_of(b->path)).s);
		}
		if (!locked) {
			nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
		}
	}
}

/** Write the book's text to @at, of @size bytes. Returns its length. */
static size_t write_book(const struct book *book, char *at, size_t size) {
	size_t len = (size_t)snprintf(at, size, "distrun budget 1\nlimit %lu\nused %lu\nat %lu\n",
				      (unsigned long)book->limit_ms, (unsigned long)book->used_ms,
				      (unsigned long)book->at_ms);
	for (uint32_t i = 0; i < book->n_runs; i++) {
		const struct run *run = &book->runs[i];
		len += (size_t)snprintf(at + len, size - len, "run %.*s %lu\n", (int)run->name.len,
					run->name.p, (unsigned long)run->at_ms);
	}
	return len;
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
	char text[FILE_MAX + RUNS_MAX * NUM_DIGITS + 200], new[4096];
	size_t len = strlen(b->path), size = write_book(book, text, sizeof(text));
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

// --- who runs

/**
 * Whether the process of @run is alive. For a run on another machine: whether its last entry is
 * recent.
 */
static bool is_alive(const struct budget *b, const struct run *run, uint64_t now) {
	size_t place = str_find(run->name, ' ');
	struct str ours = {b->run, str_find(str_of(b->run), ' ')};
	if (!str_eq((struct str){run->name.p, place}, ours)) {
		// An entry may be in the future: the clock was set back, or the other machine's
		// clock is slightly ahead.
		return now < run->at_ms + SILENT_MS && run->at_ms < now + SILENT_MS;
	}
	struct str rest = str_from(run->name, place + 1), pid_text;
	uint64_t pid, start;
	return str_cut(&rest, ' ', &pid_text) && num_read(pid_text, INT32_MAX, &pid) == 0 &&
	       num_read(rest, UINT64_MAX, &start) == 0 && start != 0 && start_of(pid) == start;
}

/** Remove dead runs and this run. Returns whether any run was alive, this one included. */
static bool prune(const struct budget *b, struct book *book, uint64_t now) {
	bool any = false;
	uint32_t n = 0;
	for (uint32_t i = 0; i < book->n_runs; i++) {
		bool us = str_is(book->runs[i].name, b->run);
		bool alive = us || is_alive(b, &book->runs[i], now);
		any |= alive;
		if (alive && !us) {
			book->runs[n++] = book->runs[i];
		}
	}
	book->n_runs = n;
	return any;
}

/** Add the time since the last entry to `used`, if any run was alive. */
static void count(struct budget *b, struct book *book) {
	uint64_t now = clock_of(CLOCK_REALTIME), passed = now > book->at_ms ? now - book->at_ms : 0;
	uint64_t mine = clock_of(CLOCK_MONOTONIC) - b->entered_at;
	// If this run has joined, the last entry is at most as old as our own, measured on the
	// monotonic clock. This limits the error if the clock was set.
	uint64_t most = b->joined ? mine : SILENT_MS;
	passed = passed > most ? most : passed;
	if (prune(b, book, now)) {
		book->used_ms += passed;
	}
	book->at_ms = now;
}

/** Read the locked file @fd into @text, of FILE_MAX bytes, and @book. */
static int read_locked(struct budget *b, int fd, char *text, struct book *book, struct err *err) {
	size_t len = 0;
	ssize_t n;
	// A file of several machines is on a network, which may give it in pieces.
	while ((n = read(fd, text + len, FILE_MAX - len)) > 0) {
		len += (size_t)n;
	}
	if (n < 0) {
		int code = errno;
		return err_set(err, code, "the budget file %s cannot be read: %s", quote(str_of(b->path)).s,
			       strerror(code));
	}
	if (len == FILE_MAX) {
		return err_set(err, EFBIG, "the budget file %s is too large", quote(str_of(b->path)).s);
	}
	int r = read_book(b, (struct str){text, len}, book, err);
	if (r == 0) {
		count(b, book);
		b->limit_ms = b->limit_ms ? b->limit_ms : book->limit_ms;
		b->used_ms = book->used_ms;
	}
	return r;
}

/** Make an entry. From then on this run counts as running if @run is true. */
static int enter(struct budget *b, bool run, uint64_t wait_ms, struct err *err) {
	char text[FILE_MAX];
	struct book book = {0};
	int fd = open_locked(b, wait_ms, err);
	if (fd < 0) {
		return fd;
	}
	int r = read_locked(b, fd, text, &book, err);
	if (r == 0) {
		book.limit_ms = b->limit_ms;
		bool joins = run && (b->joined || !budget_is_used_up(b)) && book.n_runs < RUNS_MAX;
		if (joins) {
			book.runs[book.n_runs++] = (struct run){str_of(b->run), book.at_ms};
		}
		r = replace(b, &book, err);
		b->joined = r == 0 ? joins : b->joined;
	}
	if (r == 0) {
		b->entered_at = clock_of(CLOCK_MONOTONIC);
		b->entered_ms = b->used_ms;
	}
	close(fd);
	return r;
}

/** Read how much was used, and change nothing. */
static int look(struct budget *b, struct err *err) {
	char text[FILE_MAX];
	struct book book = {0};
	if (access(b->path, F_OK) < 0 && errno == ENOENT) {
		return 0;
	}
	int fd = open_locked(b, LOCK_MS, err);
	int r = fd < 0 ? fd : read_locked(b, fd, text, &book, err);
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
	budget->run = run_of_us(arena);
	int r = look(budget, err);
	if (r == 0 && budget->limit_ms == 0) {
		return err_set(err, EINVAL, "the budget file %s has no limit yet, and none is given",
			       quote(str_of(budget->path)).s);
	}
	return r;
}

int budget_join(struct budget *budget, struct err *err) {
	budget->entered_at = clock_of(CLOCK_MONOTONIC);
	int r = budget->path ? enter(budget, true, LOCK_MS, err) : 0;
	budget->used_before_ms = r == 0 ? budget->used_ms : 0;
	return r;
}

void budget_beat(struct budget *budget) {
	struct err err;
	if (!budget->path || enter(budget, true, BEAT_LOCK_MS, &err) < 0) {
		budget->used_ms = budget->entered_ms + clock_of(CLOCK_MONOTONIC) - budget->entered_at;
	}
}

int budget_leave(struct budget *budget, struct err *err) {
	if (!budget->path) {
		budget_beat(budget);
		return 0;
	}
	return enter(budget, false, LOCK_MS, err);
}
