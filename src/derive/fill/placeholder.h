// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The syntax of --fill: the placeholders in a word, and the words that mark a role. Their values are not
 * known here.
 *
 * A placeholder is {NAME} or, for some names, {NAME*N}, {NAME*VARIABLE} or {NAME:PORT}; or {VARIABLE...}.
 * All other braces are text: a shell's ${NAME}, JSON, {}, doubled braces, Python's {rank:03d}.
 */

#include "base/err.h"

enum placeholder_id {
	FILL_NNODES,
	FILL_NODE_RANK,
	FILL_RANK,
	FILL_WORLD_SIZE,
	FILL_LOCAL_RANK,
	FILL_LOCAL_WORLD_SIZE,
	FILL_MASTER_PORT,
	FILL_MASTER_ADDR,
	FILL_MASTER_IP,
	FILL_MASTER,
	FILL_NODE_ADDR,
	FILL_HOSTS,
	FILL_WORKERS,
	/** A variable: a name of capitals, digits and '_'. */
	FILL_VARIABLE,
	/** A whole word, {NAME...}: the words of that variable. */
	FILL_SPREAD,
};

struct placeholder {
	enum placeholder_id id;
	/** As it is written, with its braces. */
	struct str text;
	/** The name, without '*', ':' and what follows. */
	struct str name;
	/** The digits after '*' or ':', or the variable after '*'; empty: there are none. */
	struct str number;
};

/**
 * Find the first placeholder in @word at or after @from. *@at is its offset. *@escaped: a backslash
 * precedes it, so it is text, and the backslash has to be removed.
 *
 * Returns 1 with *@out set; 0 if there is none; -EINVAL for a name that is nearly known, and for a number
 * that is wrong.
 */
int placeholder_find(const char *word, size_t from, size_t *at, bool *escaped, struct placeholder *out,
		     struct err *err);

/** Refuse @p, because of @why and @more, and name the way out. Returns -EINVAL. */
int placeholder_refuse(const struct placeholder *p, const char *why, const char *more, struct err *err);

/** The role that gets the words after a mark. */
enum role {
	/** All processes: the role before the first mark, and after :all:. */
	ROLE_ALL,
	ROLE_MASTER,
	ROLE_WORKERS,
};

/** Whether @word is a mark, ":master:", ":workers:" or ":all:"; then *@out is set. */
bool role_mark_read(const char *word, enum role *out);

/** The name of the mark nearest to @word, ":NAME:"; NULL: @word is a mark, or near to none. */
const char *role_mark_nearest(const char *word);

/** "all", "master" or "workers". */
const char *role_name(enum role role);
