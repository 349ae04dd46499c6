// SPDX-License-Identifier: Apache-2.0

#include "net/wait.h"

#include "base/clock.h"
#include "net/backoff.h"
#include "net/connect.h"

#include <errno.h>
#include <sys/random.h>
#include <unistd.h>

/**
 * How long addresses are used before the name is looked up again. The name is looked up again because a
 * restarted master may have a new address; but a look-up for each attempt would load the name server more
 * than the attempts load the master.
 */
#define LOOKUP_AGAIN_MS WAIT_PROGRESS_MS

/** A seed that differs between processes, even if the kernel has no random numbers yet. */
static uint64_t find_seed(uint64_t now) {
	uint64_t seed;
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed)) {
		seed = now << 32 ^ (uint64_t)getpid();
	}
	return seed;
}

static bool all_loopback(const struct addresses *addresses) {
	uint32_t i = 0;
	while (i < addresses->n && address_is_itself(address_bytes(&addresses->at[i]))) {
		i++;
	}
	return i == addresses->n;
}

/** Try until the host is up. Returns as wait_until_up(). */
static int try_on(struct watch *watch, bool *loopback) {
	const struct wait_for *wait = watch->wait;
	struct backoff backoff = backoff_begin(find_seed(watch->started));
	struct addresses own, *addresses = &own;
	if (wait->found) {
		addresses = wait->found;
	}
	uint64_t look_up_at = 0, now = watch->started;
	for (;;) {
		int r = 0;
		if (now >= look_up_at) {
			r = lookup(watch, wait->host, wait->port, addresses);
			look_up_at = r < 0 ? 0 : clock_after(now, LOOKUP_AGAIN_MS);
			*loopback = r == 0 && all_loopback(addresses);
		}
		if (r == 0 && wait->port) {
			r = connect_any(watch, addresses);
		}
		if (r != -EAGAIN) {
			return r;
		}
		if (wait->failed) {
			wait->failed(wait->context, watch->failure.text);
		}
		now = clock_now_ms();
		r = watch_poll(watch, -1, 0, clock_after(now, backoff_next_ms(&backoff)));
		if (r < 0) {
			return r;
		}
		now = clock_now_ms();
		if (now >= watch->deadline) {
			return -ETIMEDOUT;
		}
	}
}

int wait_until_up(const struct wait_for *wait, struct wait_end *end) {
	struct watch watch;
	bool loopback = false;
	int r = watch_begin(&watch, wait);
	if (r == 0) {
		r = try_on(&watch, &loopback);
		watch_done(&watch);
	}
	*end = (struct wait_end){
		.waited_ms = clock_now_ms() - watch.started,
		.signal = watch.signal,
		.failure = watch.failure,
		.loopback = loopback,
	};
	return watch.signal ? -EINTR : r;
}
