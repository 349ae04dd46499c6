// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Who is absent, and why. */

#include "rollcall/guest.h"

struct absent {
	const struct roll_call *call;
	const struct guests *guests;
	/** The look-ups of the first absentees, and their ranks; before them, of our own name. */
	struct looked looked;
	bool knows_itself;
	uint32_t n_ranks;
	uint32_t ranks[LOOKUPS_MAX];
};

/** Start to look up our own name, or after that the first absentees. @guests->epoll tells of @absent. */
void absent_look_up(struct absent *absent);
/** Read an answer. */
void absent_read(struct absent *absent);
void absent_done(struct absent *absent);
/** Who is absent and why, at most 8: "n17 (rank 17, never came) and 3 more". */
const char *absent_text(const struct absent *absent);
/** The absent ranks, at most @max, from the first on. Returns how many. */
uint32_t absent_list(const struct absent *absent, uint32_t *ranks, uint32_t max);
/** Fill in the absentees of the result. */
void absent_report(const struct absent *absent, struct roll_end *end);
