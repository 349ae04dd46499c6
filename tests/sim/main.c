// SPDX-License-Identifier: Apache-2.0

/** Plays jobs: from a seed on, one from a seed, or those on tapes. */

#include "job.h"
#include "reached.h"
#include "tape.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FINDINGS_MAX 64
#define SHRINK_TRIES 4000

/** A job takes no more than this, in s. */
#define JOB_MAX_S 60

int __real_clock_gettime(clockid_t id, struct timespec *out);

static double seconds(clockid_t clock) {
	struct timespec time;
	__real_clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static struct options {
	/** For how long jobs are played, and how much processor time they may take. */
	double time, processor;
	uint64_t seed, jobs;
	bool one, shrinks, stops, repeats, reached;
	/** Promises that are accepted to be broken, or known to be. */
	const char *accepted;
	const char **tapes;
	int n_tapes;
} options = {.time = 10, .processor = 1e9, .jobs = UINT64_MAX, .shrinks = true};

/** The first job that breaks a promise. */
static struct finding {
	char name[60], text[500];
	uint64_t seed, job, times;
	struct chosen *tape;
	uint32_t n;
} findings[FINDINGS_MAX];
static int n_findings;

/** The job that is played: its seed, or its tape. */
static uint64_t running_seed;
static const char *running_tape;

static void print_running(const char *what) {
	if (running_tape) {
		fprintf(stderr, "sim: a job %s: %s\n", what, running_tape);
	} else {
		fprintf(stderr, "sim: a job %s: --seed=%llu --one\n", what, (unsigned long long)running_seed);
	}
}

/** A job hangs, or has crashed: print which, and die of that. */
static void on_death(int number) {
	print_running(number == SIGALRM ? "hangs" : "crashes");
	signal(number, SIG_DFL);
	raise(number);
}

#ifdef __SANITIZE_ADDRESS__
void __asan_on_error(void);

/** AddressSanitizer calls this before it reports. */
void __asan_on_error(void) {
	print_running("crashes");
}
#else
/** A job may have used up its stack: take another one. */
static void catch_crashes(void) {
	static char stack[65536];
	const stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};
	const struct sigaction action = {.sa_handler = on_death, .sa_flags = SA_ONSTACK | SA_NODEFER};
	sigaltstack(&other, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGABRT, &action, NULL);
}
#endif

static void play(uint64_t seed) {
	running_seed = seed;
	choices_begin(seed, NULL, 0);
	job_run();
}

static bool is_listed(const char *list, const char *name) {
	const size_t n = strlen(name);
	for (const char *at = list; (at = strstr(at, name)); at += n) {
		if ((at == list || at[-1] == ',') && (!at[n] || at[n] == ',')) {
			return true;
		}
	}
	return false;
}

static bool is_accepted(const char *name) {
	return options.accepted && is_listed(options.accepted, name);
}

/** Keep what the last job has broken. */
static void keep(uint64_t seed, uint64_t number) {
	int i = 0;
	while (i < n_findings && strcmp(findings[i].name, broken_name) != 0) {
		i++;
	}
	if (i == FINDINGS_MAX) {
		return;
	}
	struct finding *finding = &findings[i];
	if (i == n_findings) {
		n_findings++;
		*finding = (struct finding){.seed = seed, .job = number};
		strcpy(finding->name, broken_name);
		strcpy(finding->text, broken_text);
		finding->tape = malloc((n_chosen + TAPE_SPARE) * sizeof(*chosen));
		finding->n = n_chosen;
		memcpy(finding->tape, chosen, n_chosen * sizeof(*chosen));
		if (!is_accepted(finding->name)) {
			printf("# job %llu, seed %llu: %s: %s\n", (unsigned long long)number,
			       (unsigned long long)seed, broken_name, broken_text);
		}
	}
	finding->times++;
}

static void show(struct finding *finding) {
	printf("# === %s: %llu times, first in job %llu; ./dev sim --seed=%llu --one\n# %s\n", finding->name,
	       (unsigned long long)finding->times, (unsigned long long)finding->job,
	       (unsigned long long)finding->seed, finding->text);
	if (is_accepted(finding->name) || !options.shrinks) {
		return;
	}
	const uint32_t was = finding->n;
	finding->n = tape_shrink(finding->name, finding->tape, finding->n, SHRINK_TRIES);
	tracing = true;
	choices_begin(0, finding->tape, finding->n);
	job_run();
	tracing = false;
	printf("# %s\n# promise: %s (%u choices, of %u)\n", broken_text, finding->name, finding->n, was);
	tape_print(finding->tape, finding->n);
}

/** Whether a second run of a seed goes another way. */
static bool differs(uint64_t seed) {
	const uint64_t was = course, calls = n_calls;
	char text[500];
	strcpy(text, broken_text);
	play(seed);
	return was != course || calls != n_calls || strcmp(text, broken_text) != 0;
}

static int play_many(void) {
	const double begin = seconds(CLOCK_MONOTONIC), processor = seconds(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t n = 0, calls = 0;
	int n_broken = 0;
	printf("# jobs from seed %llu on\n", (unsigned long long)options.seed);
	for (; n < options.jobs; n++) {
		const uint64_t seed = options.seed + n;
		if (n % 64 == 0 && (seconds(CLOCK_MONOTONIC) - begin >= options.time ||
				    seconds(CLOCK_PROCESS_CPUTIME_ID) - processor >= options.processor)) {
			break;
		}
		if (n % 1024 == 0) {
			alarm(JOB_MAX_S);
		}
		play(seed);
		calls += n_calls;
		if (broken_name[0]) {
			keep(seed, n + 1);
			if (options.stops && !is_accepted(broken_name)) {
				n++;
				break;
			}
		}
		if (options.repeats && differs(seed)) {
			printf("# seed %llu does not always go alike\n", (unsigned long long)seed);
			return 1;
		}
	}
	alarm(0);
	const double took = seconds(CLOCK_MONOTONIC) - begin,
		     used = seconds(CLOCK_PROCESS_CPUTIME_ID) - processor;
	printf("# %llu jobs in %.1f s: %.0f a second of processor time, %.0f system calls each\n",
	       (unsigned long long)n, took, (double)n / used, (double)calls / (double)n);
	for (int i = 0; i < n_findings; i++) {
		n_broken += !is_accepted(findings[i].name);
		show(&findings[i]);
	}
	return n_broken > 0;
}

/** Play tapes: each has to hold. */
static int play_tapes(void) {
	int n_broken = 0;
	for (int i = 0; i < options.n_tapes; i++) {
		struct tape tape;
		if (tape_read(options.tapes[i], &tape) < 0) {
			return 2;
		}
		running_tape = options.tapes[i];
		choices_begin(0, tape.at, tape.n);
		tracing = options.one;
		job_run();
		tracing = false;
		const bool holds = !broken_name[0] ||
				   (is_accepted(broken_name) && strcmp(broken_name, tape.promise) != 0);
		n_broken += !holds;
		printf("%s %s%s%s%s%s\n", holds ? "holds" : "broken", options.tapes[i], holds ? "" : ": ",
		       holds ? "" : broken_name, holds ? "" : ": ", holds ? "" : broken_text);
		free(tape.at);
	}
	return n_broken > 0;
}

static int play_one(void) {
	tracing = true;
	play(options.seed);
	printf("%s%s%s\n", broken_name[0] ? broken_name : "all holds", broken_name[0] ? ": " : "",
	       broken_text);
	if (broken_name[0] && options.shrinks) {
		tape_print(chosen, n_chosen);
	}
	return broken_name[0] != 0;
}

static uint32_t faults_in(const char *list) {
	uint32_t set = 0;
	for (int i = 0; i < N_WHAT; i++) {
		set |= is_listed(list, what_names[i]) ? 1U << i : 0;
	}
	return set;
}

static const char usage[] =
	"usage: sim [--time=SECONDS | --processor=SECONDS | --jobs=N] [--seed=N [--one]] [--nodes=N] "
	"[--only=FAULT,...] [--without=FAULT,...] [--most=N]\n"
	"           [--together=0|1] [--skip=PROMISE,...] [--accept=PROMISE,...] "
	"[--stop] [--no-shrink] [--repeat] [--reached] [TAPE]...\n";

/** Read one word of the command line. Returns whether it is an option. */
static bool read_option(const char *word) {
	const char *value = strchr(word, '=') ? strchr(word, '=') + 1 : "";
	const size_t n = (size_t)(value - word);
#define IS(name) (strncmp(word, name, n > sizeof(name) - 1 ? n : sizeof(name) - 1) == 0)
	if (IS("--time=")) {
		options.time = atof(value);
	} else if (IS("--processor=")) {
		options.processor = atof(value);
		options.time = 1e9;
	} else if (IS("--jobs=")) {
		options.jobs = strtoull(value, NULL, 10);
		options.time = 1e9;
	} else if (IS("--seed=")) {
		options.seed = strtoull(value, NULL, 10);
	} else if (IS("--nodes=")) {
		rules.nodes = (unsigned)atoi(value);
	} else if (IS("--only=")) {
		rules.faults = faults_in(value);
	} else if (IS("--without=")) {
		rules.faults &= ~faults_in(value);
	} else if (IS("--most=")) {
		rules.most = (unsigned)atoi(value);
	} else if (IS("--together=")) {
		rules.together = atoi(value);
	} else if (IS("--skip=")) {
		rules.skip = value;
	} else if (IS("--accept=")) {
		options.accepted = value;
	} else if (strcmp(word, "--one") == 0) {
		options.one = true;
	} else if (strcmp(word, "--stop") == 0) {
		options.stops = true;
	} else if (strcmp(word, "--no-shrink") == 0) {
		options.shrinks = false;
	} else if (strcmp(word, "--repeat") == 0) {
		options.repeats = true;
	} else if (strcmp(word, "--reached") == 0) {
		options.reached = true;
	} else {
		return false;
	}
	return true;
#undef IS
}

int main(int argc, char **argv) {
	struct timespec time;
	__real_clock_gettime(CLOCK_REALTIME, &time);
	options.seed = ((uint64_t)time.tv_nsec ^ (uint64_t)time.tv_sec << 20) % 1000000000000;
	options.tapes = malloc((size_t)argc * sizeof(*options.tapes));
	for (int i = 1; i < argc; i++) {
		if (argv[i][0] != '-') {
			options.tapes[options.n_tapes++] = argv[i];
		} else if (!read_option(argv[i])) {
			fprintf(stderr, "sim: error: unknown option '%s'\n%s", argv[i], usage);
			return 2;
		}
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGALRM, on_death);
#ifndef __SANITIZE_ADDRESS__
	catch_crashes();
#endif
	jobs_begin();
	const int status = options.n_tapes ? play_tapes() : options.one ? play_one() : play_many();
	if (options.reached) {
		reached_show();
	}
	return status;
}
