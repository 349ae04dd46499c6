// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Finds which nodes differ, and in what. Members with the same digest are a party. One member of each party,
 * its speaker, is asked for its facts, so that few members have to send them.
 */

#include "facts/facts.h"

#include "base/json_write.h"

/** A member, as described by its HELLO. */
struct compare_member {
	uint32_t rank;
	/** Its name for messages; empty: messages show its rank. */
	struct str host;
	uint64_t digest[N_FACT_GROUPS];
};

/** All members that are present. */
struct compare {
	struct arena *arena;
	/** In the order of ranks. */
	const struct compare_member *members;
	uint32_t n;
	/** The coordinator's index in @members. Its party comes first among parties of the same size. */
	uint32_t own;
	/** A member is a task, not a node. */
	bool tasks;
	/** The coordinator's facts by group, which have values where only digests are sent; NULL: none. */
	const struct fact_list *facts;
};

/** At most so many parties of a group are asked. */
#define COMPARE_PARTIES 4

/** The largest parties of a group, the largest first. */
struct compare_parties {
	/**
	 * The index of each party's speaker in the list of members. The coordinator is the speaker of its own
	 * party.
	 */
	uint32_t speaker[COMPARE_PARTIES];
	/** The number of parties, at most COMPARE_PARTIES. 1: all members agree, so no member is asked. */
	uint32_t n;
	/** The number of members of each party. */
	uint32_t size[COMPARE_PARTIES];
	/** The number of members of all other parties, which are not asked. */
	uint32_t unasked;
	/** By member: its party, as a bit; 0: its party is not asked. */
	const unsigned char *bits;
};

/** Choose the parties of @group, and their speakers. */
void compare_choose_speakers(const struct compare *c, enum fact_group group, struct compare_parties *out);

/** One value of a fact. */
struct difference_value {
	/** NULL: the variable is not set. */
	const char *value;
	/** The number of members that have this value, and their parties, as bits. */
	uint32_t n;
	uint32_t parties;
};

/** A fact that differs between nodes. */
struct difference {
	enum fact_group group;
	const char *name;
	/** At least 2. */
	struct difference_value values[COMPARE_PARTIES];
	uint32_t n_values;
	/**
	 * The index of the most common value. If several are equally common, the coordinator's comes first.
	 */
	uint32_t common;
	/** The coordinator's value in clear; NULL: not set. */
	const char *own;
	/** The parties that `values` refers to. */
	const struct compare_parties *parties;
	/** The next difference, or NULL. */
	struct difference *next;
};

/**
 * Compare the facts of the parties. @payloads are the answers of the speakers of @parties, in their order. An
 * empty payload is a missing answer: the values of its party are unknown, and differ from no other. The
 * payloads and @parties must live as long as the result.
 *
 * Returns 0 with *@out, which is NULL if there is no difference; -EPROTO if a payload is malformed: then
 * *@bad is the index of its party, and *@out is unchanged.
 */
int compare_group(const struct compare *c, enum fact_group group, const struct compare_parties *parties,
		  const struct str payloads[], struct difference **out, uint32_t *bad);

/**
 * Write @d for people: "gpus=8 on 63 nodes, 7 on n9". The nodes with the most common value are counted,
 * others are named, many as a host list. Secrets are masked.
 */
void difference_text(const struct compare *c, const struct difference *d, struct buf *out);

/**
 * Write @d as a JSON object, with all ranks as host lists. @error: the difference keeps the job from
 * starting.
 */
void difference_json(const struct compare *c, const struct difference *d, bool error, struct json *json);
