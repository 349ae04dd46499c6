// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Command lines as lists of words: made word by word, read from a site's settings, and shown so that a shell would read them alike. */

#include "base/buf.h"
#include "base/err.h"

/** A list under construction. */
struct words {
	struct arena *arena;
	/** `n` of them, and room for `cap`. */
	char **at;
	size_t n;
	size_t cap;
};

#define WORDS(a) ((struct words){.arena = (a)})

/** Add @word as it is; the text is kept, not copied. */
void words_add(struct words *words, const char *word);

/** Add a word made as printf() does. */
void words_addf(struct words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Add all of @more, which ends with NULL; NULL is an empty list. */
void words_add_all(struct words *words, char *const more[]);

/** Close the list with a NULL (not counted in `n`) and return it, for execve(). */
char **words_vector(struct words *words);

/**
 * Split @text at blanks, as a shell would: quotes of both kinds and backslashes keep blanks. Nothing is expanded, and what a shell would expand or
 * obey ($ ` ; & | < > ( ) * ?) has to be quoted. @from names the text in messages.
 * Returns 0; -EINVAL, and @words may have some of them.
 */
int words_split(struct words *words, const char *from, struct str text, struct err *err);

/** Write @word so that a shell reads it as one word, the same. */
void word_put(struct buf *out, const char *word);

/** Write all of @argv, which ends with NULL, with blanks between. */
void words_put(struct buf *out, char *const argv[]);
