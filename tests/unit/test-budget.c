// SPDX-License-Identifier: Apache-2.0

/** Tests the budget file: reading, writing, and whose time counts. */

#include "srun/budget.h"

#include "base/file.h"
#include "check.h"
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Each reading of a clock is rounded, and the clock of the day is corrected meanwhile. Less than what each check looks for.
enum { ROOM_MS = 10 };

static struct arena arena;
static char folder[] = "/tmp/distrun-budget.XXXXXX";
static const char *path;

static uint64_t now_ms(void) {
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void put(const char *text) {
	FILE *file = fopen(path, "w");
	check(file != NULL);
	if (file) {
		(void)fputs(text, file);
		(void)fclose(file);
	}
}

static const char *content(void) {
	struct str text;
	struct err err;
	return file_read(&arena, "the budget", path, 100000, &text, &err) == 0 ? text.p : "";
}

/** Open a file with @text: the error's start behind the path, or "" for none. */
static void check_open(const char *text, const char *want) {
	struct budget b;
	struct err err = {""};
	put(text);
	int r = budget_open(&b, &arena, path, 1000, &err);
	checkf((r == -EINVAL) == (*want != '\0') && strstr(err.text, want), "'%.30s': '%s'", text, err.text);
}

#define HEAD "distrun budget 1\nlimit 1000\nused 200\nat 5\n"

static void check_files(void) {
	struct budget b;
	struct err err;
	check_open(HEAD, "");
	check_open("", "");
	check_open("\n", ":1: ");
	check_open("distrun budget 2\nlimit 1\nused 1\nat 1\n", ":1: ");
	check_open("distrun budget 1\n", ":2: ");
	check_open("distrun budget 1\nlimit x\n", ":2: ");
	check_open("distrun budget 1\nlimit 1\nused 99999999999999999999\n", ":3: ");
	check_open("distrun budget 1\nlimit 1\nused 1\nat \n", ":4: ");
	// As version 0.2.0 wrote it.
	check_open(HEAD "run a 1 2 3\n", "");

	put(HEAD);
	check(budget_open(&b, &arena, path, 0, &err) == 0 && b.limit_ms == 1000 && b.used_ms == 200);
	check(budget_open(&b, &arena, path, 150, &err) == 0 && b.limit_ms == 150 && budget_is_used_up(&b));
	// Opening writes nothing, and a used-up budget is not joined.
	check(strcmp(content(), HEAD) == 0);
	check(budget_join(&b, &err) == 0 && !b.joined && budget_leave(&b, &err) == 0 && b.used_ms == 200);
	check(unlink(path) == 0);
	check(budget_open(&b, &arena, path, 0, &err) == -EINVAL && access(path, F_OK) < 0);
}

static void pause_ms(long ms) {
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/** What a run of 50 ms counts, while the last entry stands at @at_ms when it counts. */
static uint64_t counted(uint64_t at_ms) {
	struct budget b;
	struct err err;
	put("distrun budget 1\nlimit 900000\nused 1000\nat 5\n");
	check(budget_open(&b, &arena, path, 0, &err) == 0 && budget_join(&b, &err) == 0 && b.joined);
	pause_ms(50);
	put(arena_format(&arena, "distrun budget 1\nlimit 900000\nused 1000\nat %lu\n",
			 (unsigned long)at_ms));
	check(budget_leave(&b, &err) == 0 && !b.joined);
	return b.used_ms - 1000;
}

static void check_counts(void) {
	// Nobody ran before, however long ago that is; or the clock was set forward.
	uint64_t alone = counted(5);
	check(alone >= 50 - ROOM_MS && alone < 60000 && counted((uint64_t)INT64_MAX) == 0);
	// Another run has counted this time, or its machine's clock is ahead, or ours was set back.
	check(counted(now_ms() + 3600000) == 0);

	// Two runs at once. Neither counts what the other has counted, and who begins counts nothing.
	struct budget one, two;
	struct err err;
	uint64_t began = now_ms();
	unlink(path);
	check(budget_open(&one, &arena, path, 900000, &err) == 0 && budget_join(&one, &err) == 0);
	pause_ms(30);
	check(budget_open(&two, &arena, path, 0, &err) == 0 && budget_join(&two, &err) == 0 &&
	      two.used_ms == 0);
	pause_ms(30);
	budget_beat(&one);
	pause_ms(30);
	budget_beat(&two);
	check(budget_leave(&one, &err) == 0 && one.used_ms >= 90 - ROOM_MS &&
	      one.used_ms <= now_ms() - began + ROOM_MS);
	// The second is killed, and time passes: the next run does not count it.
	uint64_t used = one.used_ms;
	pause_ms(60);
	began = now_ms();
	check(budget_open(&one, &arena, path, 0, &err) == 0 && budget_join(&one, &err) == 0);
	check(budget_leave(&one, &err) == 0 && one.used_ms <= used + now_ms() - began + ROOM_MS);
}

/**
 * With each limit for file sizes that the entry does not fit in: it does not count as written, the
 * file is as it was, and the process is not killed.
 */
static void check_short(const char *before) {
	struct budget b;
	struct err err = {""};
	struct rlimit unlimited, small;
	put(before);
	check(getrlimit(RLIMIT_FSIZE, &unlimited) == 0);
	check(budget_open(&b, &arena, path, 900000, &err) == 0);
	for (small = unlimited, small.rlim_cur = 0; small.rlim_cur < sizeof(HEAD) - 1; small.rlim_cur++) {
		check(setrlimit(RLIMIT_FSIZE, &small) == 0);
		int r = budget_join(&b, &err);
		check(setrlimit(RLIMIT_FSIZE, &unlimited) == 0);
		checkf(r == -EFBIG && !b.joined && strcmp(content(), before) == 0,
		       "a write of %lu bytes: %d, <%s>", (unsigned long)small.rlim_cur, r, content());
	}
	check(budget_join(&b, &err) == 0 &&
	      strncmp(content(), "distrun budget 1\nlimit 900000\nused ", 35) == 0);
	check(budget_leave(&b, &err) == 0);
}

/** What is longer than an entry is gone after it; what is not a plain file is refused. */
static void check_others(void) {
	struct budget b;
	struct err err = {""};
	put(HEAD "run a 1 2 3\nrun b 4 5 6\n");
	check(budget_open(&b, &arena, path, 1, &err) == 0 && budget_join(&b, &err) == 0 && !b.joined);
	check(strcmp(content(), "distrun budget 1\nlimit 1\nused 200\nat 5\n") == 0);
	check(unlink(path) == 0 && mkfifo(path, 0600) == 0);
	check(budget_open(&b, &arena, path, 1, &err) == -EINVAL);
	check_part(err.text, "is not a plain file", "a FIFO");
	check(unlink(path) == 0);
}

static void check_life(void) {
	struct budget b, other;
	struct err err;
	unlink(path);
	check(budget_open(&b, &arena, path, 900000, &err) == 0 && budget_join(&b, &err) == 0 && b.joined);
	pause_ms(50);
	budget_beat(&b);
	check(b.used_ms >= 50 - ROOM_MS && b.used_ms < 60000);
	// Another process holds the lock and keeps it: the budget goes on counting, and does not
	// block.
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	check(fd >= 0 && flock(fd, LOCK_EX) == 0);
	uint64_t began = now_ms(), used = b.used_ms;
	budget_beat(&b);
	check(now_ms() - began < 30000 && b.used_ms > used);
	// And removed: it writes again.
	check(unlink(path) == 0);
	pause_ms(20);
	budget_beat(&b);
	check(access(path, F_OK) == 0);
	close(fd);
	check(budget_open(&other, &arena, path, 900000, &err) == 0 && other.used_ms <= b.used_ms + 60000);
	check(budget_leave(&b, &err) == 0 && !b.joined);
	// Without a file it counts for itself.
	check(budget_open(&b, &arena, NULL, 30, &err) == 0 && budget_join(&b, &err) == 0);
	pause_ms(40);
	budget_beat(&b);
	check(budget_is_used_up(&b) && budget_leave(&b, &err) == 0);
}

/** Many runs at once: none fails, and all of them count no more than the clock. */
static void check_many(void) {
	enum { MANY = 8, TIMES = 200 };
	struct budget b;
	struct err err;
	uint64_t began = now_ms();
	unlink(path);
	for (int i = 0; i < MANY; i++) {
		if (fork() == 0) {
			bool good = budget_open(&b, &arena, path, 900000, &err) == 0;
			for (int k = 0; good && k < TIMES; k++) {
				good = budget_join(&b, &err) == 0 && b.joined;
				// A fast machine does all of them within a millisecond.
				if (k == 0) {
					pause_ms(5);
				}
				good = good && budget_leave(&b, &err) == 0;
			}
			_exit(good ? 0 : 1);
		}
	}
	int failed = 0, status;
	while (wait(&status) > 0) {
		failed += status != 0;
	}
	checkf(failed == 0, "%d of %d failed", failed, MANY);
	check(budget_open(&b, &arena, path, 0, &err) == 0);
	checkf(b.used_ms > 0 && b.used_ms <= now_ms() - began + ROOM_MS, "%lu ms", (unsigned long)b.used_ms);
}

int main(void) {
	arena = fixture_arena();
	check(mkdtemp(folder) != NULL);
	path = arena_format(&arena, "%s/budget", folder);
	check_files();
	check_counts();
	check_short(HEAD);
	check_short(HEAD "run a 1 2 3\n");
	check_short("");
	check_others();
	check_life();
	check_many();
	unlink(path);
	check(rmdir(folder) == 0);
	arena_done(&arena);
	return check_done();
}
