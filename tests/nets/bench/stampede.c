// SPDX-License-Identifier: Apache-2.0

/**
 * Thousands of workers wait for one master that is not up yet: what does its host see?
 *
 *     stampede WORKERS SPREAD_MS OPENS_MS POLICY
 *     stampede cost
 *
 * The workers start at random within SPREAD_MS. Each tries at once, and again after each pause; the first attempt from OPENS_MS on is
 * its last. An attempt takes no time, which is the worst for the master. POLICY is "distinit": src/system/net/backoff.c itself; "bare": its
 * limits, without anything random; or a number: so many milliseconds each time.
 *
 * Prints, in this order: attempts in the last ten seconds before OPENS_MS, a second; the most in any 1 s, 100 ms and 10 ms; the
 * most in any 10 ms from OPENS_MS on; and the ms from OPENS_MS until 50 %, 99 % and all of the workers are through.
 *
 * "cost" prints the nanoseconds that a refused connection takes on this machine, both ends together.
 */

#include "net/backoff.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/** After OPENS_MS, the longest that anybody pauses. */
#define AFTER_MS 60000

/** One pause of @policy. */
static uint32_t pause_ms(struct backoff *backoff, const char *policy) {
	uint32_t limit = backoff->limit_ms;
	if (strcmp(policy, "distinit") == 0) {
		return backoff_next_ms(backoff);
	}
	if (strcmp(policy, "bare") == 0) {
		backoff_next_ms(backoff);
		return limit;
	}
	return (uint32_t)strtoul(policy, NULL, 10);
}

/** The most attempts in any @window of the times from @from on. */
static unsigned most_in(const unsigned *at, unsigned from, unsigned to, unsigned window) {
	unsigned sum = 0, most = 0;
	for (unsigned t = from; t < to; t++) {
		sum += at[t];
		sum -= t >= from + window ? at[t - window] : 0;
		most = sum > most ? sum : most;
	}
	return most;
}

/** How long after @opens so many workers are through. */
static unsigned through(const unsigned *at, unsigned opens, unsigned workers) {
	unsigned sum = 0, t = opens;
	for (; t < opens + AFTER_MS && (sum += at[t]) < workers; t++) {
	}
	return t - opens;
}

static int simulate(unsigned workers, unsigned spread, unsigned opens, const char *policy) {
	unsigned end = opens + AFTER_MS, last = 0;
	unsigned *at = calloc(end, sizeof(*at));
	if (!at) {
		return 1;
	}
	srand48(1);
	for (unsigned i = 0; i < workers; i++) {
		uint64_t seed = (uint64_t)lrand48() << 32 ^ (uint64_t)lrand48();
		struct backoff backoff = backoff_begin(seed);
		unsigned t = spread ? (unsigned)lrand48() % spread : 0;
		while (t < end) {
			at[t]++;
			if (t >= opens) {
				break;
			}
			t += pause_ms(&backoff, policy);
		}
	}
	for (unsigned t = opens < 10000 ? 0 : opens - 10000; t < opens; t++) {
		last += at[t];
	}
	printf("%u %u %u %u %u %u %u %u\n", last / 10, most_in(at, 0, end, 1000), most_in(at, 0, end, 100),
	       most_in(at, 0, end, 10), most_in(at, opens, end, 10), through(at, opens, workers / 2),
	       through(at, opens, workers - workers / 100), through(at, opens, workers));
	free(at);
	return 0;
}

static uint64_t now_ns(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/** Connect to a port that is bound and not listened on, again and again. */
static int measure_cost(void) {
	enum { TIMES = 20000 };
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int closed = socket(AF_INET, SOCK_STREAM, 0);
	if (closed < 0 || bind(closed, (struct sockaddr *)&address, len) < 0 ||
	    getsockname(closed, (struct sockaddr *)&address, &len) < 0) {
		perror("stampede");
		return 1;
	}
	uint64_t before = now_ns();
	for (int i = 0; i < TIMES; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		bool refused = fd >= 0 && connect(fd, (struct sockaddr *)&address, len) < 0;
		if (!refused) {
			perror("stampede");
			return 1;
		}
		close(fd);
	}
	printf("%u\n", (unsigned)((now_ns() - before) / TIMES));
	return 0;
}

int main(int argc, char **argv) {
	if (argc == 2 && strcmp(argv[1], "cost") == 0) {
		return measure_cost();
	}
	if (argc != 5) {
		(void)fprintf(stderr, "usage: stampede WORKERS SPREAD_MS OPENS_MS POLICY\n");
		return 2;
	}
	return simulate((unsigned)strtoul(argv[1], NULL, 10), (unsigned)strtoul(argv[2], NULL, 10),
			(unsigned)strtoul(argv[3], NULL, 10), argv[4]);
}
