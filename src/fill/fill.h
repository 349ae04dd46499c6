// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The words of the command, filled (--fill): placeholders become what this run of the flow has
 * found, and words for another role are removed. One pass: a word stays one word, unless it is a
 * spread, and what was filled in is not filled again. docs/words.md is the contract.
 */

#include "fill/placeholder.h"
#include "flow/flow.h"

/** What a placeholder stands for here; for `explain`. */
struct fill_value {
	const char *placeholder;
	const char *value;
	/** Where it is from: a clause. */
	const char *why;
	struct fill_value *next;
};

struct fill {
	struct arena *arena;
	/** After flow_derive(). */
	const struct flow *flow;
	/** Stands for each address whose name would be looked up: names may not resolve yet. NULL: look up. */
	const char *stand_in;
	/** How long the master's name may take to resolve. */
	uint64_t wait_ms;
	/** Put SECRET_MASK for values that look secret, by their name or by where they stand. For `explain`. */
	bool masks;

	/** Each placeholder once, in the order of the words. */
	struct fill_value *values, *last;
	/** What this process is, if there is a mark; else ROLE_ALL. */
	enum role role;
};

/**
 * Fill @words, which ends with NULL, into *@out, which ends with NULL, too. Placeholders are checked in
 * all words, and have values in those for this role.
 *
 * Returns 0; -EINVAL: a name that is nearly known, a value that is not known here, a product beyond
 * 2^31, a role without a word, a spread that no shell would split alike. -E2BIG: a word becomes longer than the kernel allows.
 */
int fill_words(struct fill *fill, char *const words[], char ***out, struct err *err);

/** The first of @words that is nearly a mark, such as ":worker:", with what to write in *@mark; or NULL. */
const char *fill_mistyped(char *const words[], const char **mark);

/** The first of @words that looks as if --fill was forgotten: a mark, or a placeholder with a hyphen. */
const char *fill_forgotten(char *const words[]);

/** The value of @p here (values.c). Returns 0 with *@value and *@why, a clause; -EINVAL. */
int fill_find_value(struct fill *fill, const struct placeholder *p, const char **value, const char **why,
		    struct err *err);

/** What this process is, for words that only one role gets (values.c). Returns 0; -EINVAL. */
int fill_find_role(struct fill *fill, enum role *out, struct err *err);
