// SPDX-License-Identifier: Apache-2.0

#include "reached.h"

#include "rollcall/decide.h"

const struct table_of_states table_coordinator = {
	.name = "coordinator",
	.states = {"CALLING", "ASKING", "LOOKING_UP", "CLOSING", "REFUSING", "STARTED", "FAILED"},
	.events = {"HELLO", "FACTS", "BYE", "HEARD", "UNEXPECTED", "GONE", "LOOKS_UP", "LOOKED_UP", "UNABLE",
		   "ALL_READ", "PORT_LOST", "ASKED_TO_END", "DUE"},
};

struct coordinator_todo __real_coordinator_decide(struct roll *roll, const struct coordinator_event *event,
						  uint64_t now);

struct coordinator_todo __wrap_coordinator_decide(struct roll *roll, const struct coordinator_event *event,
						  uint64_t now) {
	const enum coordinator_state before = roll->state;
	const struct coordinator_todo todo = __real_coordinator_decide(roll, event, now);
	reached(MACHINE_COORDINATOR, before, event->what, roll->state);
	return todo;
}
