// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Which nodes differ, and in what. Members with the same digest are a party, and one of them speaks
 * for it. So only a few members are asked.
 */

#include "node/facts.h"

#include "base/json_write.h"

/** One member, as its HELLO describes it. */
struct compare_member {
	uint32_t rank;
	/** Its name for messages; empty: it is called by its rank. */
	struct str host;
	uint64_t digest[N_FACT_GROUPS];
};

/** All that are present. */
struct compare {
	struct arena *arena;
	/** In the order of ranks. */
	const struct compare_member *members;
	uint32_t n;
	/** Index of the coordinator: its party comes first among parties of one size. */
	uint32_t own;
	/** A member is a task, not a node. */
	bool tasks;
	/** Our own facts: values are known, even if digests are sent. By group; NULL: none. */
	const struct fact_list *facts;
};

/** The most parties of a group that are asked. */
#define COMPARE_PARTIES 4

/** The members that speak for the largest parties of a group, the largest first. */
struct compare_parties {
	/** Indexes of members. The coordinator speaks for its own party. */
	uint32_t speaker[COMPARE_PARTIES];
	/** At most COMPARE_PARTIES. 1: all agree, and nobody needs to be asked. */
	uint32_t n;
	/** Members of each party, and of smaller parties, which nobody speaks for. */
	uint32_t size[COMPARE_PARTIES];
	uint32_t unasked;
	/** The party of each member, as a bit; 0: it is one of those that are not asked. */
	const unsigned char *of;
};

/** Find out whom to ask for the facts of @group. */
void compare_whom(const struct compare *c, enum fact_group group, struct compare_parties *out);

/** One value of a fact. */
struct difference_value {
	/** NULL: not set. */
	const char *value;
	/** How many members have it, and their parties, as bits. */
	uint32_t n;
	uint32_t parties;
};

/** A fact that is not the same on all nodes. */
struct difference {
	enum fact_group group;
	const char *name;
	/** At least 2. */
	struct difference_value values[COMPARE_PARTIES];
	uint32_t n_values;
	/** Index of the most common value; at a tie, the coordinator's. */
	uint32_t common;
	/** The coordinator's value itself; NULL: not set. */
	const char *own;
	/** Whose values these are. */
	const struct compare_parties *parties;
	/** NULL at the end. */
	struct difference *next;
};

/**
 * Compare the facts of the parties. @payloads are what the speakers of @parties sent, in their
 * order; one without bytes is missing, and its party's values are not known. The texts and @parties
 * must live as long as the result.
 *
 * Returns 0 with *@out, NULL if there is no difference in what is known; -EPROTO if a payload is
 * malformed: *@bad is the index of its speaker in @parties, and *@out is unchanged.
 */
int compare_group(const struct compare *c, enum fact_group group, const struct compare_parties *parties,
		  const struct str payloads[], struct difference **out, uint32_t *bad);

/**
 * Write @d for people: "gpus=8 on 63 nodes, 7 on n9". Few nodes are named; many are written as a
 * host list, or counted. Secrets are masked.
 */
void difference_text(const struct compare *c, const struct difference *d, struct buf *out);

/** Write @d as a JSON object, with all ranks as host lists. @error: whether it keeps the job from starting. */
void difference_json(const struct compare *c, const struct difference *d, bool error, struct json *json);
