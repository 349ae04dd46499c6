// SPDX-License-Identifier: Apache-2.0

/** Calls the observer, and waits for its descriptors and deadline. */

#include "init/supervisor.h"

#include <fcntl.h>
#include <string.h>

/** Milliseconds between two looks for signals if signalfd() has failed. */
#define LOOK_MS 50

uint32_t observer_oom_kills(const struct observer *observer) {
	return why_oom_kills(observer->supervisor);
}

bool observer_polls(const struct observer *o) {
	return o->fds[0].fd >= 0 || o->fds[1].fd >= 0 || o->due_at != CLOCK_NEVER || o->busy;
}

void observer_wait_until(struct supervisor *in, uint64_t at) {
	struct observer *o = in->plan.observer;
	signal_set all = ALL_SIGNALS;
	if (in->signal_fd < 0) {
		in->signal_fd = (int)kernel(SYS_signalfd4, -1, (long)&all, sizeof(all), O_CLOEXEC);
	}
	struct pollfd fds[1 + OBSERVER_FDS] = {{.fd = in->signal_fd, .events = POLLIN}};
	memcpy(fds + 1, o->fds, sizeof(o->fds));
	// While the observer is busy after the workload's end, leave leftovers alone.
	at = in->ended && o->busy ? o->due_at : clock_earlier(at, o->due_at);
	uint64_t ms = clock_left(clock_now_ms(), at);
	ms = in->signal_fd < 0 && ms > LOOK_MS ? LOOK_MS : ms;
	struct timespec timeout = clock_timespec(ms);
	kernel(SYS_ppoll, (long)fds, 1 + OBSERVER_FDS, (long)&timeout, 0);
	memcpy(o->fds, fds + 1, sizeof(o->fds));
}

/** Send @event to the observer, and print the line that it may have set. */
static void notify(struct supervisor *in, enum init_event event) {
	struct observer *o = in->plan.observer;
	observe(o, event, 0, 0);
	if (o->words) {
		in->last_words = o->last_words || o->logged;
		say(in, o->last_words ? LOG_ERROR : LOG_WARN, "%s", o->words);
		in->last_words = false;
		o->words = NULL;
	}
}

void observer_wake(struct supervisor *in) {
	if (in->ended && !in->plan.observer->end) {
		in->plan.observer->end = &in->end;
		notify(in, EVENT_ENDED);
	}
	notify(in, EVENT_WAKE);
}
