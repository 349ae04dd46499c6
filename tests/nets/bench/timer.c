// SPDX-License-Identifier: Apache-2.0

/**
 * Times the whole life of small programs: vfork(), execve(), wait4(), on the monotonic clock.
 *
 *     timer [-c CPU] ROUNDS CASE[:EVERY]...
 *
 * The cases take turns, in an order that is drawn anew for each round, so that whatever disturbs the
 * machine meets all of them alike. EVERY=10 runs a slow case in every tenth round only. All of it runs on
 * one processor, if CPU is given: what else goes on there disturbs, but nothing migrates.
 *
 * Prints a line a case, in their order: runs, median, 10th and 90th percentile, in nanoseconds. A
 * program that fails ends it with 1: its figure would mean nothing.
 */

#include "case.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct timed {
	const char *name;
	struct bench_case what;
	/** It runs in the rounds that this divides. */
	unsigned every;
	/** Nanoseconds, `runs` of them. */
	uint64_t *samples;
	size_t runs;
};

static uint64_t now_ns(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/** xorshift64: the order of the cases need not be a secret. */
static uint64_t draw(void) {
	static uint64_t state = 88172645463325252U;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void shuffle(size_t *order, size_t count) {
	for (size_t i = count; i > 1; i--) {
		size_t j = draw() % i;
		size_t other = order[j];
		order[j] = order[i - 1];
		order[i - 1] = other;
	}
}

/** Run a case once. Returns nanoseconds, or 0 if it failed. */
static uint64_t run_once(const struct bench_case *what) {
	uint64_t start = now_ns();
	pid_t child = vfork();
	if (child == 0) {
		execve(what->argv[0], what->argv, what->envp);
		_exit(127);
	}
	int status = -1;
	if (child < 0 || wait4(child, &status, 0, NULL) != child || status != 0) {
		return 0;
	}
	return now_ns() - start;
}

static int compare(const void *a, const void *b) {
	uint64_t left = *(const uint64_t *)a;
	uint64_t right = *(const uint64_t *)b;
	return (left > right) - (left < right);
}

static uint64_t percentile(const struct timed *t, unsigned percent) {
	return t->samples[(t->runs - 1) * percent / 100];
}

static bool timed_init(struct timed *t, char *argument, unsigned rounds) {
	char *colon = strrchr(argument, ':');
	t->name = argument;
	t->every = 1;
	if (colon) {
		*colon = '\0';
		t->every = (unsigned)strtoul(colon + 1, NULL, 10);
	}
	t->samples = calloc(rounds, sizeof(*t->samples));
	return t->every > 0 && t->samples && bench_case_read(argument, &t->what) == 0;
}

static bool measure(struct timed *all, size_t count, unsigned rounds) {
	size_t *order = calloc(count, sizeof(*order));
	if (!order) {
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		order[i] = i;
	}
	for (unsigned round = 0; round < rounds; round++) {
		shuffle(order, count);
		for (size_t i = 0; i < count; i++) {
			struct timed *t = &all[order[i]];
			if (round % t->every != 0) {
				continue;
			}
			uint64_t ns = run_once(&t->what);
			if (ns == 0) {
				fprintf(stderr, "timer: error: %s failed\n", t->name);
				return false;
			}
			t->samples[t->runs++] = ns;
		}
	}
	return true;
}

static bool pin(const char *cpu) {
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(strtoul(cpu, NULL, 10), &set);
	return sched_setaffinity(0, sizeof(set), &set) == 0;
}

/** The programs print to nowhere. Returns the output that we came with. */
static FILE *keep_stdout(void) {
	int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (kept < 0 || null < 0) {
		return NULL;
	}
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	return fdopen(kept, "w");
}

int main(int argc, char **argv) {
	for (int option; (option = getopt(argc, argv, "+c:")) != -1;) {
		if (option != 'c' || !pin(optarg)) {
			fprintf(stderr, "timer: error: cannot stay on that processor\n");
			return 2;
		}
	}
	unsigned rounds = optind < argc ? (unsigned)strtoul(argv[optind++], NULL, 10) : 0;
	size_t count = (size_t)(argc - optind);
	struct timed *all = calloc(count + 1, sizeof(*all));
	FILE *out = keep_stdout();
	if (rounds == 0 || count == 0 || !all || !out) {
		fprintf(stderr, "usage: timer [-c CPU] ROUNDS CASE[:EVERY]...\n");
		return 2;
	}

	for (size_t i = 0; i < count; i++) {
		if (!timed_init(&all[i], argv[(size_t)optind + i], rounds)) {
			fprintf(stderr, "timer: error: %s is no case: %m\n", all[i].name);
			return 2;
		}
	}
	if (!measure(all, count, rounds)) {
		return 1;
	}
	for (size_t i = 0; i < count; i++) {
		qsort(all[i].samples, all[i].runs, sizeof(*all[i].samples), compare);
		fprintf(out, "%zu %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", all[i].runs,
			percentile(&all[i], 50), percentile(&all[i], 10), percentile(&all[i], 90));
	}
	return fclose(out) != 0;
}
