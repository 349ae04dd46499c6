// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The coordinator's state, for coordinator.c and its tests. */

#include "rollcall/absent.h"
#include "rollcall/agree.h"

struct coordinator {
	const struct roll_call *call;
	struct roll_end *end;
	struct guests guests;
	struct absent absent;
	struct agree agree;
	struct watch watch;
	int listener;
	bool moved;
	/** Holds the port. */
	int held;
	/** When the calling ends. */
	uint64_t deadline;
	/** Nothing will start (end->error says why), and until this time those who come are told; 0: not so. */
	uint64_t refuse_at;
	/** The result is decided and sent: neither it nor its reason changes any more. */
	bool decided;
	/** A warning has named who is absent. */
	bool reported;
	/** When to show the status, to report progress, and to look up who is absent. */
	uint64_t status;
	uint64_t progress;
	uint64_t look_up;
};

/** Prepare *@co; it listens nowhere yet. */
void coordinator_init(struct coordinator *co, const struct roll_call *call, struct roll_end *end);
/** Read what @guest sent, and answer. @over: it has closed its side. */
void coordinator_read(struct coordinator *co, struct guest *guest, bool over);
/** Tell @guest, or all members (NULL), how it stands. */
void news_send(struct coordinator *co, struct guest *guest);
