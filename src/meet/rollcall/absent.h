// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Which members are absent, and why. */

#include "rollcall/guest.h"

struct roll;

struct absent {
	const struct roll_call *call;
	const struct roll *roll;
	/** The current or last look-ups: of the first absentees, or of our own name. */
	struct looked looked;
	/** The ranks that are looked up, in the order of the answers. */
	uint32_t n_ranks;
	uint32_t ranks[LOOKUPS_MAX];
};

/**
 * Start to look up our own name (@itself), or the hosts of the first absentees. @epoll reports the answers,
 * with @absent as data.
 */
void absent_look_up(struct absent *absent, int epoll, bool itself);
/** Read one answer. If our own name leads to another machine, warn. */
void absent_read(struct absent *absent);
/** End the look-ups. */
void absent_done(struct absent *absent);
/** The absentees, at most 8, and why each is absent: "n17 (rank 17, never came) and 3 more". */
const char *absent_text(const struct absent *absent, uint64_t now);
/** List the ranks of absentees in increasing order, at most @max. Returns how many were listed. */
uint32_t absent_list(const struct absent *absent, uint32_t *ranks, uint32_t max);
/** Write all absentees to @end. */
void absent_report(const struct absent *absent, uint64_t now, struct roll_end *end);
