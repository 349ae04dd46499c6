// SPDX-License-Identifier: Apache-2.0

/**
 * What a process that forwards signals and reaps is put under.
 *
 *     load receive FILE SIGNAL [CPU]                    the workload: takes each SIGNAL, until it gets TERM
 *     load send FILE PID SIGNAL COUNT WINDOW [CPU]      sends COUNT of them to PID, at most WINDOW ahead of what has arrived
 *     load orphan FILE COUNT                            the workload: COUNT orphans, then waits until its parent has no other child
 *
 * The two sides share FILE. `send` prints: how many arrived, how many out of their order, the median and the 99th percentile of the time
 * between sending and arrival in ns. A realtime signal carries its number; of the others one at a time is sent.
 */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/** How many orphans one parent leaves behind. */
#define BATCH 500

/** Without an arrival for so long, a signal is lost. */
#define LOST_NS 5000000000U

struct shared {
	atomic_int ready;
	atomic_ulong arrived;
	atomic_ulong disordered;
	atomic_ulong arrived_at_ns;
};

static uint64_t now_ns(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static struct shared *share(const char *path) {
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(struct shared)) < 0) {
		return NULL;
	}
	struct shared *all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return all == MAP_FAILED ? NULL : all;
}

static void stay_on(const char *cpu) {
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(strtoul(cpu, NULL, 10), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static int receive(struct shared *all, int number) {
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, number);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	atomic_store(&all->ready, 1);
	for (;;) {
		siginfo_t info;
		int got = sigwaitinfo(&set, &info);
		if (got == SIGTERM) {
			return 0;
		}
		if (got != number) {
			continue;
		}
		unsigned long nth = atomic_load(&all->arrived);
		if (info.si_code == SI_QUEUE && (unsigned long)info.si_value.sival_int != nth) {
			atomic_fetch_add(&all->disordered, 1);
		}
		atomic_store(&all->arrived_at_ns, now_ns());
		atomic_store(&all->arrived, nth + 1);
	}
}

static int compare(const void *a, const void *b) {
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
	return (left > right) - (left < right);
}

/** Wait until @count have arrived. Returns false if they do not. */
static bool await(struct shared *all, unsigned long count) {
	uint64_t until = now_ns() + LOST_NS;
	while (atomic_load(&all->arrived) < count) {
		if (now_ns() > until) {
			return false;
		}
	}
	return true;
}

static int send_all(struct shared *all, pid_t to, int number, unsigned long count, unsigned long window) {
	uint64_t *samples = calloc(count, sizeof(*samples));
	uint64_t until = now_ns() + LOST_NS;
	while (!atomic_load(&all->ready) && now_ns() < until) {
		sched_yield();
	}
	bool lost = !samples || !atomic_load(&all->ready);
	unsigned long before = atomic_load(&all->arrived);
	for (unsigned long i = 0; i < count && !lost; i++) {
		uint64_t sent = now_ns();
		union sigval value = {.sival_int = (int)i};
		if ((number < 34 ? kill(to, number) : sigqueue(to, number, value)) < 0) {
			fprintf(stderr, "load: error: signal %lu: %s\n", i, strerror(errno));
			return 1;
		}
		lost = i + 1 >= window && !await(all, before + i + 2 - window);
		samples[i] = atomic_load(&all->arrived_at_ns) - sent;
	}
	if (!lost) {
		await(all, before + count);
	}
	if (samples) {
		qsort(samples, count, sizeof(*samples), compare);
		printf("%lu %lu %lu %lu\n", atomic_load(&all->arrived) - before,
		       atomic_load(&all->disordered), (unsigned long)samples[count / 2],
		       (unsigned long)samples[count - count / 100 - 1]);
	}
	return 0;
}

/** Whether our parent has no child but us. */
static bool alone(void) {
	char path[64], text[4096];
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", getppid(), getppid());
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 && atoi(text) == getpid() && strchr(text, ' ') == text + n - 1;
}

/** Some end before their parent does, some behind it. */
static void leave_orphans(unsigned long count) {
	pid_t parent = fork();
	if (parent == 0) {
		for (unsigned long i = 0; i < count; i++) {
			if (fork() == 0) {
				_exit(0);
			}
		}
		_exit(0);
	}
	waitpid(parent, NULL, 0);
}

static int orphan(struct shared *all, unsigned long count) {
	atomic_store(&all->ready, 1);
	// USR1 is sent meanwhile, and counted.
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (unsigned long made = 0; made < count; made += BATCH) {
		leave_orphans(BATCH);
		if (sigtimedwait(&set, NULL, &(struct timespec){0}) == SIGUSR1) {
			atomic_fetch_add(&all->arrived, 1);
		}
	}
	uint64_t until = now_ns() + 60 * (uint64_t)1000000000U;
	while (!alone()) {
		if (now_ns() > until) {
			return 1;
		}
		usleep(1000);
	}
	return 0;
}

int main(int argc, char **argv) {
	struct shared *all = argc > 3 ? share(argv[2]) : NULL;
	if (!all) {
		fprintf(stderr, "usage: load receive|send|orphan FILE ...\n");
		return 2;
	}
	if (strcmp(argv[1], "receive") == 0) {
		if (argc > 4) {
			stay_on(argv[4]);
		}
		return receive(all, atoi(argv[3]));
	}
	if (strcmp(argv[1], "send") == 0 && argc > 6) {
		if (argc > 7) {
			stay_on(argv[7]);
		}
		return send_all(all, atoi(argv[3]), atoi(argv[4]), strtoul(argv[5], NULL, 10),
				strtoul(argv[6], NULL, 10));
	}
	return orphan(all, strtoul(argv[3], NULL, 10));
}
