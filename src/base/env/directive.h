// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Directives: the user's ordered operations on variables, from the command line, from files and from a
 * variable. All of them are read, and errors reported, before the first one is applied.
 *
 * They follow PMIx RFC0022 (set, add, unset, prepend, append) and the PMIx standard (first). `clean` and
 * `pass` are ours, for starting from an empty environment.
 */

#include "base/err.h"
#include "base/nearest.h"
#include "base/notes.h"
#include "env/env.h"

/** The largest directive file. Larger ones exceed what the kernel accepts as an environment. */
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
	/** The separator between the elements of a list: ":" by default. */
	struct str separator;
	const struct origin *by;
};

/** An ordered list, in an arena. Start with `{.arena = ...}`. */
struct directives {
	struct arena *arena;
	struct directive *items;
	uint32_t n;
	uint32_t cap;
};

/** The directives of the job are applied before those of the application. */
struct directive_levels {
	struct directives job;
	struct directives app;
	/** The number of texts read, and of their sections. */
	uint32_t texts, sections;
	/** Whether a section is for the given application. */
	bool app_found;
	/** The name of a section that is nearest to the given application's. */
	struct nearest nearest;
};

/**
 * Find the verb @word: "set", or its PMIx names, PMIX_SET_ENVAR and pmix.envar.set.
 * Returns whether it exists. If not, *@nearest is the nearest of our own words, or NULL.
 */
bool verb_find(struct str word, enum verb *verb, const char **nearest);

/**
 * Read @arg, the argument of @verb (NAME=VALUE, NAME[SEPARATOR]=VALUE, or a NAME), into @out. The
 * texts are not copied. `pass NAME=VALUE` is read as `set` (mpirun's -x).
 *
 * Returns 0; or -EINVAL with the sentence in @err. *@column is then the offset of the error in
 * @arg.
 */
int directive_parse(enum verb verb, struct str arg, const struct origin *by, struct directive *out,
		    size_t *column, struct err *err);

/** Add @d to @list. Returns 0; -E2BIG if the variable would be larger than the kernel accepts. */
int directives_push(struct directives *list, const struct directive *d, struct err *err);

/** directive_parse() and directives_push(). Returns 0; -EINVAL, -E2BIG. */
int directive_add(struct directives *list, enum verb verb, struct str arg, const struct origin *by,
		  size_t *column, struct err *err);

/** The same for a value in an argument of its own (mpirun's --prepend-env NAME[c] VALUE). */
int directive_add_pair(struct directives *list, enum verb verb, struct str name, struct str value,
		       const struct origin *by, struct err *err);

/**
 * Read the lines of a directive file. A bundle (env/bundle.h) has to be complete. Lines above the
 * first "[app NAME]" are added to the job's level, lines in sections of @app (NULL: none) to the
 * application's.
 *
 * @where names the file in messages and origins: a path, or a variable's name. @text is not copied.
 *
 * Returns 0; or -EINVAL, -E2BIG: @err begins with "WHERE:LINE:COLUMN: ", for a bundle with "WHERE: ".
 */
int directive_read(struct directive_levels *levels, const char *where, struct str text, const char *app,
		   struct err *err);

/**
 * Apply @list to @env, from first to last. @notes gets warnings about directives that have no
 * effect.
 *
 * Returns 0; or -E2BIG if a variable would be larger than the kernel accepts, or if the list causes
 * too much work (EFFORT_MAX).
 */
int directives_apply(const struct directives *list, struct env *env, struct notes *notes, struct err *err);
