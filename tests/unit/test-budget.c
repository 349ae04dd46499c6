// SPDX-License-Identifier: Apache-2.0

/** Tests the budget file: reading, writing, and whose time counts. */

#include "flow/budget.h"

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
	check_open(HEAD "run a 1 2 3\n", "");
	check_open(HEAD "run a 1 2 3\nrun a 1 2\n", ":6: ");
	check_open(HEAD "walk a 1 2 3\n", ":5: ");
	check_open(HEAD "\nrun a 1 2 3\n", ":5: ");

	put(HEAD);
	check(budget_open(&b, &arena, path, 0, &err) == 0 && b.limit_ms == 1000 && b.used_ms == 200);
	check(budget_open(&b, &arena, path, 150, &err) == 0 && b.limit_ms == 150 && budget_is_used_up(&b));
	// Opening writes nothing, and a used-up budget is not joined.
	check(strcmp(content(), HEAD) == 0);
	check(budget_join(&b, &err) == 0 && !b.joined && strstr(content(), "\nrun ") == NULL);
	check(unlink(path) == 0);
	check(budget_open(&b, &arena, path, 0, &err) == -EINVAL && access(path, F_OK) < 0);
}

/** Time passed @since_ms ago with @run in the file: what is counted of it. */
static uint64_t counted(const char *run, uint64_t since_ms) {
	struct budget b;
	struct err err;
	put(arena_format(&arena, "distrun budget 1\nlimit 900000\nused 1000\nat %lu\n%s",
			 (unsigned long)(now_ms() - since_ms), run));
	check(budget_open(&b, &arena, path, 0, &err) == 0);
	return b.used_ms - 1000;
}

static void check_runs(void) {
	struct budget b;
	struct err err;
	put(HEAD);
	check(budget_open(&b, &arena, path, 900000, &err) == 0);
	// No process runs.
	check(counted("", 5000) == 0);
	// A run on another machine is known by its last entry.
	const char *away = arena_format(&arena, "run away 1 2 %lu\n", (unsigned long)now_ms());
	check(counted(away, 5000) >= 5000 && counted(away, 5000) < 60000);
	check(counted("run away 1 2 5\n", 5000) == 0);
	// Time of two simultaneous runs counts once.
	check(counted(arena_format(&arena, "%s%s", away, away), 5000) < 9000);
	// A run on this machine is identified by its process: this PID with another start time is
	// another process.
	check(counted(arena_format(&arena, "run %s 5\n", b.run), 5000) >= 5000);
	check(counted(arena_format(&arena, "run %s1 %lu\n", b.run, (unsigned long)now_ms()), 5000) == 0);
	// The clock was set forward, or the machine was suspended: a live run makes an entry every
	// second.
	check(counted(away, 3600000) <= 10000);
	// The clock was set back: the entry of a dead run is in the future, but must not make it
	// count as alive that long.
	check(counted(arena_format(&arena, "run away 1 2 %lu\n", (unsigned long)now_ms() + 3600000), 5000) ==
	      0);
	check(counted(away, (uint64_t)0 - 50000) == 0);
}

/** What stands at the name of the new file. */
static void check_in_the_way(void) {
	struct budget b;
	struct err err = {""};
	const char *new = arena_format(&arena, "%s.new", path);
	put(HEAD);
	check(budget_open(&b, &arena, path, 900000, &err) == 0);
	check(mkfifo(new, 0600) == 0 && budget_join(&b, &err) == 0 && access(new, F_OK) < 0);
	check(symlink("nowhere", new) == 0 && budget_leave(&b, &err) == 0 && access(new, F_OK) < 0);
	check(mkdir(new, 0700) == 0 && budget_join(&b, &err) == -EEXIST);
	check_part(err.text, ".new' is in the way; remove it", "a folder in the way");
	check(rmdir(new) == 0);
}

/**
 * With a limit for file sizes: the entry does not count as written, and the process is not killed.
 */
static void check_short(void) {
	struct budget b;
	struct err err = {""};
	struct rlimit before, small = {.rlim_cur = 20};
	put(HEAD);
	check(budget_open(&b, &arena, path, 900000, &err) == 0 && getrlimit(RLIMIT_FSIZE, &before) == 0);
	small.rlim_max = before.rlim_max;
	check(setrlimit(RLIMIT_FSIZE, &small) == 0);
	int r = budget_join(&b, &err);
	check(setrlimit(RLIMIT_FSIZE, &before) == 0);
	checkf(r == -EFBIG && !b.joined, "a short write: %d", r);
	check(strcmp(content(), HEAD) == 0 && access(arena_format(&arena, "%s.new", path), F_OK) < 0);
}

static void check_life(void) {
	struct budget b, other;
	struct err err;
	unlink(path);
	check(budget_open(&b, &arena, path, 900000, &err) == 0 && budget_join(&b, &err) == 0 && b.joined);
	check(strstr(content(), arena_format(&arena, "run %s ", b.run)) != NULL);
	nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
	budget_beat(&b);
	check(b.used_ms >= 50 && b.used_ms < 60000);
	// Another process holds the lock and keeps it: the budget goes on counting, and does not
	// block.
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	check(fd >= 0 && flock(fd, LOCK_EX) == 0);
	uint64_t began = now_ms(), used = b.used_ms;
	budget_beat(&b);
	check(now_ms() - began < 5000 && b.used_ms > used);
	// And removed: it writes again.
	check(unlink(path) == 0);
	nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	budget_beat(&b);
	check(access(path, F_OK) == 0);
	close(fd);
	check(budget_open(&other, &arena, path, 900000, &err) == 0 && other.used_ms <= b.used_ms + 60000);
	check(budget_leave(&b, &err) == 0 && !b.joined && strstr(content(), "\nrun ") == NULL);
	check(access(arena_format(&arena, "%s.new", path), F_OK) < 0);
	// Without a file it counts for itself.
	check(budget_open(&b, &arena, NULL, 30, &err) == 0 && budget_join(&b, &err) == 0);
	nanosleep(&(struct timespec){.tv_nsec = 40000000}, NULL);
	budget_beat(&b);
	check(budget_is_used_up(&b) && budget_leave(&b, &err) == 0);
}

/** Many runs at once: no run loses the entry of another. */
static void check_many(void) {
	enum { MANY = 8, TIMES = 200 };
	unlink(path);
	for (int i = 0; i < MANY; i++) {
		if (fork() == 0) {
			struct budget b;
			struct err err;
			bool good = budget_open(&b, &arena, path, 900000, &err) == 0;
			for (int k = 0; good && k < TIMES; k++) {
				good = budget_join(&b, &err) == 0 && b.joined && strstr(content(), b.run) &&
				       budget_leave(&b, &err) == 0;
			}
			_exit(good ? 0 : 1);
		}
	}
	int failed = 0, status;
	while (wait(&status) > 0) {
		failed += status != 0;
	}
	checkf(failed == 0, "%d of %d lost an entry", failed, MANY);
	check(strstr(content(), "\nrun ") == NULL);
}

int main(void) {
	arena = fixture_arena();
	check(mkdtemp(folder) != NULL);
	path = arena_format(&arena, "%s/budget", folder);
	check_files();
	check_runs();
	check_in_the_way();
	check_short();
	check_life();
	check_many();
	unlink(path);
	check(rmdir(folder) == 0);
	arena_done(&arena);
	return check_done();
}
