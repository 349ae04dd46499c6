// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Directives: the user's ordered operations on variables, from the command line, from files and from a
 * variable. They are all read, and errors told, before the first is applied.
 *
 * After PMIx RFC0022 (set, add, unset, prepend, append; `first` from the PMIx standard), with `clean` and `pass` for those
 * who start from nothing.
 */

#include "base/err.h"
#include "base/notes.h"
#include "env/env.h"

/** A file larger than all that the kernel takes as an environment holds no directives. */
#define DIRECTIVE_FILE_MAX ((size_t)8 << 20)

enum verb {
	VERB_SET,
	VERB_ADD,
	VERB_UNSET,
	VERB_PREPEND,
	VERB_APPEND,
	VERB_FIRST,
	VERB_CLEAN,
	VERB_PASS,
};

struct directive {
	enum verb verb;
	struct str name;
	struct str value;
	/** What stands between the elements of a list. */
	struct str separator;
	const struct origin *by;
};

/** An ordered list, in an arena. Begin with `{.arena = ...}`. */
struct directives {
	struct arena *arena;
	struct directive *items;
	uint32_t n;
	uint32_t cap;
};

/** The job's directives come before the application's. */
struct directive_levels {
	struct directives job;
	struct directives app;
};

/**
 * Find the verb called @word: "set", or as PMIx spells it, PMIX_SET_ENVAR, pmix.envar.set.
 * Returns whether there is one. If not, *@nearest is the likeliest of our own words, or NULL.
 */
bool verb_find(struct str word, enum verb *verb, const char **nearest);

/**
 * Read @arg, the argument of @verb (NAME=VALUE, NAME[SEPARATOR]=VALUE, or a NAME), into @out. The texts are kept, not
 * copied. `pass NAME=VALUE` is read as `set` (mpirun's -x).
 *
 * Returns 0; or -EINVAL with the sentence in @err and, in *@column, the offset in @arg of what it is about.
 */
int directive_parse(enum verb verb, struct str arg, const struct origin *by, struct directive *out,
		    size_t *column, struct err *err);

/** Add @d to @list. Returns 0; or -E2BIG if the variable would be more than the kernel takes. */
int directives_push(struct directives *list, const struct directive *d, struct err *err);

/** Both: read @arg and add it to @list. Returns 0; -EINVAL, -E2BIG. */
int directive_add(struct directives *list, enum verb verb, struct str arg, const struct origin *by,
		  size_t *column, struct err *err);

/** The same where the value is a second argument (mpirun's --prepend-env NAME[c] VALUE). */
int directive_add_pair(struct directives *list, enum verb verb, struct str name, struct str value,
		       const struct origin *by, struct err *err);

/**
 * Read the lines of a directive file; a bundle (env/bundle.h) has to be whole. Above the first "[app NAME]" they are added to the job's level; those in
 * sections of @app (NULL: none) to the application's.
 *
 * @where names it in messages and origins: a path, or a variable's name. @text is kept, not copied.
 *
 * Returns 0; or -EINVAL, -E2BIG: @err says "WHERE:LINE:COLUMN: ...", of a bundle "WHERE: ...".
 */
int directive_read(struct directive_levels *levels, const char *where, struct str text, const char *app,
		   struct err *err);

/**
 * Apply @list to @env, front to back. What was asked for but has no effect is told in @notes.
 *
 * Returns 0; or -E2BIG if a variable would outgrow what the kernel takes, or if the list takes so much work that it is no honest one.
 */
int directives_apply(const struct directives *list, struct env *env, struct notes *notes, struct err *err);
