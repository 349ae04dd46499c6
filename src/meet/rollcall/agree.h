// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The coordinator's comparison: chooses the members to ask for facts, and compares their answers. It makes no
 * system call: decide.c passes it the answers of members and of look-ups.
 *
 *     agree_begin()        choose one member of each party to ask: `n_asked` answers are awaited
 *     agree_take()         add the answer of a member
 *     agree_compare()      after the last answer: compare. If only the names of the master differ, they are looked up
 *     agree_looked_up()    add the answer of a look-up
 *     agree_conclude()     decide whether all members may start
 */

#include "rollcall/guest.h"

/** How long answers of members, and of name servers, are awaited. */
#define ANSWER_MS 2000
#define MASTER_MS 2000

struct roll;

struct agree {
	const struct roll *roll;
	/** When to stop waiting for answers. */
	uint64_t until;
	/** The number of answers of members that have not come yet. */
	uint32_t n_asked;
	/** The memory of this comparison. */
	struct arena scratch;
	struct compare compare;
	struct compare_parties parties[N_FACT_GROUPS];
	/**
	 * By group and party: the member that is asked; NULL: the coordinator itself, or the member was
	 * closed.
	 */
	struct guest *speakers[N_FACT_GROUPS][COMPARE_PARTIES];
	/** By group and party: the answer; empty: none came. */
	struct str payloads[N_FACT_GROUPS][COMPARE_PARTIES];
	/** All differences, after agree_compare(). */
	struct difference *differences;
	/** The same, after agree_conclude(); NULL: this comparison has not come so far. */
	const struct difference *concluded;
	/** The difference in the names of the master, each of which is looked up; NULL: there is none. */
	const struct difference *master;
	/** The look-up child has ended: no more answers come. */
	bool all_answered;
	/** The answers, in the order of the values of @master. */
	uint32_t n_answers;
	struct lookup_answer answers[COMPARE_PARTIES];
};

void agree_begin(struct agree *agree, uint64_t now);
/** Add the facts that @guest sent, unless they are not awaited any more. */
void agree_take(struct agree *agree, const struct guest *guest, struct str payload);
/** Find the differences. Returns whether the names of the master have to be looked up. */
bool agree_compare(struct agree *agree);
/** List the names to look up. Returns how many there are. */
uint32_t agree_names(const struct agree *agree, const char *names[COMPARE_PARTIES]);
/** Add @answer; NULL: no more answers come. */
void agree_looked_up(struct agree *agree, const struct lookup_answer *answer);
/** Whether all answers of look-ups have come. */
bool agree_is_looked_up(const struct agree *agree);
/**
 * After the comparison: set @agree->concluded, and the clocks of @end. Returns 0 if all members may start; else
 * -EPROTO with @end->error, and *@fatal, in @agree->scratch, if one difference is the reason.
 */
int agree_conclude(struct agree *agree, struct roll_end *end, const struct difference **fatal);
/**
 * Return the next member that has not answered, so that the caller closes it: it reconnects. NULL: there is
 * none.
 */
struct guest *agree_silent(struct agree *agree);
