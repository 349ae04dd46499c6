// SPDX-License-Identifier: Apache-2.0

#include "together/again.h"

#include "base/clock.h"
#include "net/watch.h"

#include <unistd.h>

void together_cancel(const struct together *t, struct roll_call *call, const char *why) {
	struct roll_end end;
	const uint64_t now = clock_now_ms(), left = clock_left(now, t->late_at);
	call->timeout_ms = left > ROLL_LATE_MS ? left : ROLL_LATE_MS;
	call->late_at = now + call->timeout_ms;
	call->starts = t->start;
	call->asked_to_end = true;
	call->unable = why;
	call->n_gone = t->n_gone;
	roll_call(call, &end);
}

bool together_call(const struct together *t, struct roll_call *call) {
	const uint64_t now = clock_now_ms(), limit_ms = clock_left(now, t->limit_at);
	call->starts = t->start;
	call->late_at = t->late_at;
	call->pause_ms = t->call_pause_ms;
	call->timeout_ms = clock_after(call->timeout_ms, clock_left(now, t->late_at) + t->call_pause_ms);
	if (limit_ms >= call->timeout_ms) {
		return false;
	}
	call->timeout_ms = limit_ms;
	return true;
}

bool together_again(struct together *t, struct roll_call *call, int *reserved, uint64_t graces_ms) {
	const bool is_alone = t->call->size == 1;
	together_end(t);
	if (*reserved > 0) {
		close(*reserved);
	}
	*reserved = -1;
	if (!t->max_restarts) {
		return false;
	}
	t->start++;
	t->late_at = t->first_at + graces_ms + ROLL_LATE_MS;
	t->call_pause_ms = t->pause_ms;
	if (t->cancel_reason && !is_alone) {
		call->not_again = t->not_again;
		together_cancel(t, call, t->cancel_reason);
	}
	return t->observer.again;
}

void together_alone(struct roll_call *call, struct roll_end *end) {
	call->rank = 0;
	call->size = 1;
	*end = (struct roll_end){.port = call->port,
				 .start = call->starts,
				 .reserved = -1,
				 .lines = arena_alloc(call->arena, sizeof(*end->lines))};
	*end->lines = (struct kept_line){.line.fd = -1};
}

int together_pause(const struct together *t) {
	const struct wait_for wait = {.timeout_ms = t->call_pause_ms};
	struct watch watch;
	if (watch_begin(&watch, &wait) == 0) {
		watch_poll(&watch, -1, 0, CLOCK_NEVER);
		watch_done(&watch);
	}
	return watch.signal;
}
