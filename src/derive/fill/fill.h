// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The words of the command, filled (--fill): placeholders are replaced by values that this run of the
 * flow has found, and words for another role are removed. There is one pass: filled-in text is not filled
 * again, and a word stays one word, unless it is a spread. docs/words.md is the contract.
 */

#include "fill/placeholder.h"
#include "flow/flow.h"

/** The value of a placeholder; for `explain`. */
struct fill_value {
	const char *placeholder;
	const char *value;
	/** Its origin: a clause. */
	const char *why;
	struct fill_value *next;
};

struct fill {
	struct arena *arena;
	/** The flow, after flow_derive(). */
	const struct flow *flow;
	/**
	 * The text for each address that needs a look-up, because names may not resolve yet. NULL: look
	 * up.
	 */
	const char *stand_in;
	/** Milliseconds that the master's name may take to resolve. */
	uint64_t wait_ms;
	/** Show SECRET_MASK for values that look secret, by their name or position. For `explain`. */
	bool masks;

	/** Each placeholder once, in the order of the words. */
	struct fill_value *values, *last;
	/** This process's role, if a word is a mark; else ROLE_ALL. */
	enum role role;
	/** The signal that ended a look-up of names, or 0. */
	int signal;
};

/**
 * Fill @words into *@out. Both end with NULL. Placeholders are checked in all words; those for this
 * process's role must have values.
 *
 * Returns 0; -E2BIG if a word becomes longer than the kernel allows; -EINTR, with @fill->signal, if a signal
 * came while a name was looked up; -EINVAL for one of these: a name that is nearly known, a value that is
 * not known here, a product beyond 2^31, a role without words, a spread that a shell would split in
 * another way.
 */
int fill_words(struct fill *fill, char *const words[], char ***out, struct err *err);

/** The first of @words that is nearly a mark, such as ":worker:", with the right mark in *@mark; or NULL. */
const char *fill_mistyped(char *const words[], const char **mark);

/** The first of @words that looks as if --fill was forgotten: a mark, or a placeholder with a hyphen. */
const char *fill_forgotten(char *const words[]);

/** Find the value of @p (values.c). Returns 0 with *@value and *@why, a clause; -EINVAL, -EINTR. */
int fill_find_value(struct fill *fill, const struct placeholder *p, const char **value, const char **why,
		    struct err *err);

/** Find this process's role, for words that only one role gets (values.c). Returns 0; -EINVAL. */
int fill_find_role(struct fill *fill, enum role *out, struct err *err);
