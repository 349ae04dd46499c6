// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The coordinator: waits for events, passes them to decide.c, and does what that returns. For coordinator.c
 * and its tests.
 */

#include "rollcall/decide.h"

struct coordinator {
	const struct roll_call *call;
	struct roll_end *end;
	/** The state of decide.c, and the connections. */
	struct roll roll;
	struct guests guests;
	struct absent absent;
	/** Looks up the names of the master. */
	struct lookups child;
	struct watch watch;
	/** -1: not listening. */
	int listener;
	/** Reserves the port (net/listen.h); -1: not reserved. */
	int reserved;
	/** The roll call is over: return. */
	bool done;
};

/** Prepare *@co. It does not listen yet. */
void coordinator_init(struct coordinator *co, const struct roll_call *call, struct roll_end *end);
/** Pass @event to coordinator_decide(), and do what that returns. */
void coordinator_handle(struct coordinator *co, const struct coordinator_event *event);
/** Read the frames of @guest, and handle them. @over: the other side has closed its direction. */
void coordinator_read(struct coordinator *co, struct guest *guest, bool over);
