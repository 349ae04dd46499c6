// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The coordinator's comparison: whom it asks, and what it makes of the answers. It waits for nothing: the
 * coordinator hands it the answers, those of members and those of the look-ups.
 *
 *     agree_begin()       ask those that speak for a party                         -> ASKING
 *     agree_take()        an answer came
 *     agree_go_on()       all have answered. Do only the names of the master
 *                         differ? They are looked up                               -> LOOKING_UP
 *                         nothing is to be looked up, or all answers are there     -> DONE
 *     agree_read()        a look-up ended
 *     agree_conclude()    what differs, and whether all may start                  -> NOT_COMPARING
 *     agree_drop()        somebody came or went: nothing of this holds             -> NOT_COMPARING
 */

#include "rollcall/guest.h"

/** How long answers of members, and of name servers, are awaited. */
#define TELL_MS	  2000
#define MASTER_MS 2000

struct agree {
	const struct roll_call *call;
	const struct guests *guests;
	enum {
		NOT_COMPARING,
		ASKING,
		LOOKING_UP,
		DONE,
	} state;
	/** When answers are not awaited any more. */
	uint64_t until;
	/** `guests->changes` when the comparison began. */
	uint32_t changes;
	/** Answers that are still awaited. */
	uint32_t n_asked;
	/** Who speaks for which party, and what they said. All of it is in an arena of its own. */
	struct arena scratch;
	struct compare compare;
	struct compare_parties parties[N_FACT_GROUPS];
	struct guest *speakers[N_FACT_GROUPS][COMPARE_PARTIES];
	struct str payloads[N_FACT_GROUPS][COMPARE_PARTIES];
	/** What differs, once all have answered. */
	struct difference *differences;
	/** What the nodes call the master is looked up: of the difference @master, value by value. */
	const struct difference *master;
	struct lookups child;
	uint32_t n_answers;
	struct lookup_answer answers[COMPARE_PARTIES];
};

void agree_begin(struct agree *agree);
/** Take the facts that @guest sent, if they are still awaited. */
void agree_take(struct agree *agree, const struct guest *guest, struct str payload);
/** Go on if nothing more is awaited, or no longer. Returns whether the comparison is done. */
bool agree_go_on(struct agree *agree);
/** Read the answer of a look-up. @guests->epoll reports @agree if there is one. */
void agree_read(struct agree *agree);
/**
 * Once it is done: report what differs. Returns 0 if all may start; -EPROTO with @end->error. The other
 * results in @end are in @agree->scratch.
 */
int agree_conclude(struct agree *agree, struct roll_end *end);
/** The next that has not answered, or NULL. It is to be closed, and will come again. */
struct guest *agree_silent(struct agree *agree);
/** Forget what was asked. */
void agree_drop(struct agree *agree);
