// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The coordinator's comparison: whom it asks, and what it makes of the answers. */

#include "rollcall/guest.h"

struct agree {
	const struct roll_call *call;
	const struct guests *guests;
	struct watch *watch;
	/** Answers that are still awaited. */
	uint32_t n_asked;
	/** Who speaks for which party, and what they said. All of it is in an arena of its own. */
	struct arena scratch;
	struct compare compare;
	struct compare_parties parties[N_FACT_GROUPS];
	struct guest *speakers[N_FACT_GROUPS][COMPARE_PARTIES];
	struct str payloads[N_FACT_GROUPS][COMPARE_PARTIES];
};

/** Compare those that are here: ask those that speak for a party. */
void agree_begin(struct agree *agree);
/** Take the facts that @guest sent, if they are still awaited. */
void agree_take(struct agree *agree, const struct guest *guest, struct str payload);
/**
 * End the comparison, once all have answered: report what differs. Returns 0 if all may start;
 * -EPROTO with @end->error.
 */
int agree_conclude(struct agree *agree, struct roll_end *end);
/** The next that has not answered, or NULL. It is to be closed, and will come again. */
struct guest *agree_silent(struct agree *agree);
