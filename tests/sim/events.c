// SPDX-License-Identifier: Apache-2.0

/** What happens when: a heap of events, by time, and in their order at the same time. */

#include "inside.h"

#include <stdio.h>
#include <stdlib.h>

#define EVENTS_MAX (1 << 16)

struct event {
	uint64_t at;
	uint32_t number, turn;
	/** Runs this process, if that is still its turn; NULL: calls `what`. */
	struct process *process;
	void (*what)(void *, uint64_t);
	void *a;
	uint64_t b;
};

uint64_t time_now, course;

static struct event heap[EVENTS_MAX];
static uint32_t n_events, number;

static bool is_before(const struct event *a, const struct event *b) {
	return a->at != b->at ? a->at < b->at : a->number < b->number;
}

static void push(struct event event) {
	if (n_events == EVENTS_MAX) {
		fprintf(stderr, "sim: too many events\n");
		abort();
	}
	event.number = number++;
	uint32_t i = n_events++;
	for (; i && is_before(&event, &heap[(i - 1) / 2]); i = (i - 1) / 2) {
		heap[i] = heap[(i - 1) / 2];
	}
	heap[i] = event;
}

static struct event pop(void) {
	const struct event top = heap[0], last = heap[--n_events];
	uint32_t i = 0;
	for (uint32_t k; (k = 2 * i + 1) < n_events; i = k) {
		k += k + 1 < n_events && is_before(&heap[k + 1], &heap[k]);
		if (!is_before(&heap[k], &last)) {
			break;
		}
		heap[i] = heap[k];
	}
	heap[i] = last;
	return top;
}

void at_time_with(uint64_t at, void (*what)(void *, uint64_t), void *a, uint64_t b) {
	push((struct event){.at = at > time_now ? at : time_now, .what = what, .a = a, .b = b});
}

struct call_later {
	void (*what)(void *);
	void *a;
};

/** How many of these are still to come. */
static unsigned n_later;

static void call_now(void *a, uint64_t b) {
	const struct call_later *later = a;
	(void)b;
	n_later--;
	later->what(later->a);
}

void at_time(uint64_t at, void (*what)(void *), void *a) {
	struct call_later *later = job_memory(sizeof(*later));
	*later = (struct call_later){what, a};
	n_later++;
	at_time_with(at, call_now, later, 0);
}

bool events_planned(void) {
	return n_later > 0;
}

void events_begin(void) {
	n_events = number = 0;
	n_later = 0;
	course = 0;
}

void run_at(struct process *process, uint64_t at) {
	push((struct event){.at = at, .process = process, .turn = ++process->turn});
}

bool events_due(void) {
	return n_events && heap[0].at <= time_now;
}

bool events_next(uint64_t until) {
	if (!n_events || heap[0].at > until) {
		return false;
	}
	const struct event event = pop();
	time_now = event.at > time_now ? event.at : time_now;
	course = (course ^ time_now ^ (uint64_t)event.number << 40) * 0x9e3779b97f4a7c15u;
	course ^= course >> 29;
	if (event.process) {
		process_run(event.process, event.turn);
	} else {
		event.what(event.a, event.b);
	}
	return true;
}
