// SPDX-License-Identifier: Apache-2.0

/** Tests against a /proc of files that the test creates, and against the real one. */

#include "base/proc.h"
#include "measure/usage.h"

#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char proc[] = "/tmp/test-usage.XXXXXX";

/** Make the file @name under proc, with its folders. */
static void make(const char *name, const char *text) {
	char path[300];
	snprintf(path, sizeof(path), "%s/%s", proc, name);
	for (char *at = path + strlen(proc) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(path, 0700);
		*at = '/';
	}
	FILE *file = fopen(path, "w");
	if (!checkf(file != NULL, "write %s", path)) {
		return;
	}
	fputs(text, file);
	fclose(file);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *place) {
	(void)info;
	(void)type;
	(void)place;
	return remove(path);
}

/**
 * Create the process @pid with one thread, in @state, which used @ticks, and whose reaped children
 * used @reaped.
 */
static void make_process(int pid, int parent, char state, int ticks, int reaped) {
	char name[64], text[256];
	snprintf(text, sizeof(text),
		 "%d (a) b (c) %c %d 1 1 0 -1 4194304 9 9 9 9 %d 0 %d 0 20 0 1 0 99 0 0\n", pid, state,
		 parent, ticks, reaped);
	snprintf(name, sizeof(name), "%d/stat", pid);
	make(name, text);
	snprintf(name, sizeof(name), "%d/task/%d/stat", pid, pid);
	make(name, text);
}

static void make_children(int pid, const char *children) {
	char name[64];
	snprintf(name, sizeof(name), "%d/task/%d/children", pid, pid);
	make(name, children);
}

static void check_stat(const char *text, bool want, int pid, int parent, char state, uint64_t ticks) {
	struct proc_stat s = {.pid = -7};
	bool held = proc_stat_parse(str_of(text), &s);
	checkf(held == want &&
		       (held ? s.pid == pid && s.parent == parent && s.state == state && s.ticks == ticks
			     : s.pid == -7),
	       "stat '%s'", text);
}

static void check_fields(void) {
	check_stat("12 (sh) S 1 12 12 0 -1 4194304 1 2 3 4 5 6 7 8 20 0", true, 12, 1, 'S', 26);
	check_stat("12 (a) R 9 (b)) D 1 12 12 0 -1 4194304 1 2 3 4 5 6 7 8 20", true, 12, 1, 'D', 26);
	check_stat("12 (sh) S 1 12 12 0 -1 4194304 1 2 3 4 5 6 7", false, 0, 0, 0, 0);
	check_stat("12 (sh) S 1 12 12 0 -1 4194304 1 2 3 4 x 6 7 8", false, 0, 0, 0, 0);
	check_stat("12 sh S 1", false, 0, 0, 0, 0);
	check_stat("12 (sh)", false, 0, 0, 0, 0);
	check_stat("", false, 0, 0, 0, 0);

	uint64_t number = 0;
	check(usage_read_field(STR("Rss:   9 kB\nPss:   12 kB\n"), "Pss:", &number) && number == 12);
	check(usage_read_field(STR("read_bytes: 4096\n"), "read_bytes:", &number) && number == 4096);
	check(!usage_read_field(STR("Rss: 9 kB\n"), "Pss:", &number));
	check(!usage_read_field(STR("Pss: x kB\n"), "Pss:", &number));
	check(!usage_read_field(STR(""), "Pss:", &number));
}

/** 10 is this process; 11 and 12 are its children, 13 a child of 12. 20 belongs to another tree. */
static void make_tree(void) {
	make_process(10, 1, 'D', 1000, 40);
	make_process(11, 10, 'S', 100, 10);
	make_process(12, 10, 'R', 200, 0);
	make_process(13, 12, 'R', 300, 0);
	make_process(20, 1, 'D', 9999, 0);
	make("11/smaps_rollup", "x\nRss: 90 kB\nPss:     20 kB\n");
	make("12/smaps_rollup", "x\nRss: 90 kB\nPss:     30 kB\n");
	make("13/statm", "50 7 1 1 0 1 0\n");
	make("10/io", "rchar: 1\nread_bytes: 1000\n");
	make("11/io", "rchar: 1\nread_bytes: 200\n");
	make("13/io", "rchar: 1\nread_bytes: 30\n");
	make("meminfo", "MemTotal:       2048 kB\nMemFree: 1 kB\n");
}

static void check_tree(const char *how) {
	struct usage_source source = {.proc = proc, .root = 10};
	struct usage u;
	uint64_t tick_ms = 1000 / (uint64_t)sysconf(_SC_CLK_TCK), page = (uint64_t)sysconf(_SC_PAGESIZE);
	pid_t pids[8];
	usage_look(&source, true, &u);
	checkf(u.processes == 3, "%s: %u processes", how, u.processes);
	checkf(u.cpu_ms == (40 + 110 + 200 + 300) * tick_ms, "%s: %llu ms", how,
	       (unsigned long long)u.cpu_ms);
	checkf(u.read_bytes == 1230, "%s: %llu bytes read", how, (unsigned long long)u.read_bytes);
	checkf(u.memory == 50 * 1024 + 7 * page && u.by_rss, "%s: %llu bytes", how,
	       (unsigned long long)u.memory);
	checkf(!u.waits, "%s: nobody waits", how);
	checkf(usage_list(&source, pids, 8) == 3 && pids[0] + pids[1] + pids[2] == 36, "%s: list", how);
	checkf(usage_list(&source, pids, 1) == 3, "%s: a short list", how);

	usage_look(&source, false, &u);
	checkf(u.memory == 0 && !u.by_rss, "%s: memory was not asked for", how);
	source.with_root = true;
	usage_look(&source, false, &u);
	checkf(u.processes == 4 && u.waits && u.cpu_ms == (1040 + 110 + 200 + 300) * tick_ms,
	       "%s: with the root", how);
}

static void check_real(void) {
	struct usage_source source = {.proc = "/proc", .root = getpid(), .with_root = true};
	struct usage before, after;
	usage_look(&source, true, &before);
	checkf(before.processes == 1 && before.memory > 0, "this process alone: %u", before.processes);
	const size_t size = (size_t)64 << 20;
	int ready[2];
	if (!check(pipe(ready) == 0)) {
		return;
	}
	pid_t pid = fork();
	if (pid == 0) {
		char *big = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		struct timespec used = {0};
		memset(big, 1, size);
		while (used.tv_sec == 0 && used.tv_nsec < 200000000) {
			clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
		}
		(void)!write(ready[1], "", 1);
		pause();
		_exit(0);
	}
	char byte;
	check(read(ready[0], &byte, 1) == 1);
	usage_look(&source, true, &after);
	checkf(after.processes == 2, "with a child: %u", after.processes);
	checkf(after.memory >= before.memory + size / 2, "a child of 64 MiB: %llu bytes",
	       (unsigned long long)(after.memory - before.memory));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	usage_look(&source, false, &after);
	checkf(after.processes == 1, "without it: %u", after.processes);
	checkf(after.cpu_ms - before.cpu_ms >= 150, "its 200 ms are kept: %llu",
	       (unsigned long long)(after.cpu_ms - before.cpu_ms));
	close(ready[0]);
	close(ready[1]);
}

int main(void) {
	check_fields();
	if (check(mkdtemp(proc) != NULL)) {
		make_tree();
		check_tree("all processes looked at");
		make_children(10, "11 12 ");
		make_children(11, "");
		make_children(12, "13 ");
		check_tree("by the lists of children");
		make_process(13, 12, 'D', 300, 0);
		struct usage u;
		usage_look(&(struct usage_source){.proc = proc, .root = 10}, false, &u);
		check(u.waits);
		check(usage_memory_total(proc) == 2048 * 1024);
		check(usage_memory_total("/nowhere") == 0);
		nftw(proc, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	}
	check_real();
	return check_done();
}
