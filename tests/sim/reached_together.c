// SPDX-License-Identifier: Apache-2.0

#include "reached.h"

#include "together/decide.h"

#include "base/clock.h"

const struct table_of_states table_together = {
	.name = "together",
	.states = {"coordinator", "coordinator-settles", "coordinator-knows", "member", "member-settles",
		   "member-knows", "alone", "alone-settles", "alone-knows"},
	.events = {"STARTED", "PROGRAM_ENDED", "ENDED", "END", "DIED", "GONE", "SILENT", "DEAF", "SIGNAL",
		   "ASKED_TO_END", "WORKER_ENDED", "OWN_DIED", "OVERDUE", "DUE"},
};

static unsigned state_of(const struct together *t) {
	const unsigned who = t->call->size == 1 ? 2 : t->call->rank ? 1 : 0;
	return 3 * who + (t->decided ? 2 : t->settle_at != CLOCK_NEVER ? 1 : 0);
}

struct together_todo __real_together_decide(struct together *t, const struct together_event *event,
					    uint64_t now);

struct together_todo __wrap_together_decide(struct together *t, const struct together_event *event,
					    uint64_t now) {
	const unsigned before = state_of(t);
	const struct together_todo todo = __real_together_decide(t, event, now);
	reached(MACHINE_TOGETHER, before, event->what, state_of(t));
	return todo;
}
