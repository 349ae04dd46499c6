// SPDX-License-Identifier: Apache-2.0

#include "reached.h"

#include "rollcall/member_decide.h"

/** Frames come after the other events. */
#define FRAMES (MEMBER_ASKED_TO_END + 1)

const struct table_of_states table_member = {
	.name = "member",
	.states = {"PAUSES", "LOOKS_UP", "CONNECTS", "CONNECTED", "MET", "WAITS", "DONE"},
	.events = {"DUE", "LOOKED_UP", "CONNECTION", "GREETING", "FRAME", "NO_FRAME", "GONE", "UNSENT",
		   "ASKED_TO_END", [FRAMES + FRAME_WAIT] = "WAIT", [FRAMES + FRAME_ASK] = "ASK",
		   [FRAMES + FRAME_GO] = "GO", [FRAMES + FRAME_NO] = "NO", [FRAMES + FRAME_PROOF] = "PROOF"},
};

struct member_todo __real_member_decide(struct member *m, const struct member_event *event, uint64_t now);

struct member_todo __wrap_member_decide(struct member *m, const struct member_event *event, uint64_t now) {
	const enum member_state before = m->state;
	const unsigned type = event->what == MEMBER_FRAME ? event->frame.type : 0;
	const bool named = type >= FRAME_WAIT && type <= FRAME_PROOF;
	const struct member_todo todo = __real_member_decide(m, event, now);
	reached(MACHINE_MEMBER, before, named ? FRAMES + type : event->what, m->state);
	return todo;
}
