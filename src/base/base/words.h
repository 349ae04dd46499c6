// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Command lines as lists of words: built, split from a site's settings, and printed for a shell to read. */

#include "base/buf.h"
#include "base/err.h"

/** A list under construction. */
struct words {
	struct arena *arena;
	/** `n` words; room for `cap`. */
	char **at;
	uint32_t n;
	uint32_t cap;
};

#define WORDS(a) ((struct words){.arena = (a)})

/** Add @word; the text is not copied. */
void words_add(struct words *words, const char *word);

/** Add a word formatted as by printf(). */
void words_addf(struct words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Add all words of @more, which ends with NULL. NULL is an empty list. */
void words_add_all(struct words *words, char *const more[]);

/** Terminate the list with a NULL (not counted in `n`) and return it, for execve(). */
char **words_vector(struct words *words);

/**
 * Split @text at blanks, as a shell would: quotes of both kinds and backslashes keep blanks.
 * Nothing is expanded: characters that are special in a shell ($ ` ; & | < > ( ) * ?) have to be
 * quoted. @from names the text in messages.
 * Returns 0; or -EINVAL, and @words may then have some of the words.
 */
int words_split(struct words *words, const char *from, struct str text, struct err *err);

/** Whether a shell reads @word unchanged without quotes. */
bool word_is_plain(const char *word);

/** Write @word so that a shell reads it as the same single word. */
void word_put(struct buf *out, const char *word);

/** Write all words of @argv, which ends with NULL, with blanks between them. */
void words_put(struct buf *out, char *const argv[]);
