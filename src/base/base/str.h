// SPDX-License-Identifier: Apache-2.0
#pragma once

/** A string view: it does not own its text, which has no NUL at its end. */

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct str {
	const char *p;
	size_t len;
};

/** A slice of a string literal. */
#define STR(literal) ((struct str){(literal), sizeof(literal) - 1})

/** All of @text as a slice; empty for NULL. */
struct str str_of(const char *text);

bool str_eq(struct str a, struct str b);
bool str_is(struct str a, const char *text);
bool str_starts(struct str a, struct str prefix);

/** @c as in a variable's name: in upper case, and '_' for '-'. */
static inline char variable_char(char c) {
	return c == '-' ? '_' : c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/** @a without its first @n bytes. */
static inline struct str str_from(struct str a, size_t n) {
	return (struct str){a.p + n, a.len - n};
}

/** The index of the first @c in @a, or a.len. */
size_t str_find(struct str a, char c);

/** @a without blanks (space, tab, CR) at its ends. */
struct str str_trim(struct str a);

/**
 * Cut the next piece, up to @separator or the end, off *@rest into *@piece.
 * Returns false at the end: then rest->p is NULL. "a,,b" has three pieces, the second empty; "" has one.
 */
bool str_cut(struct str *rest, char separator, struct str *piece);

/** Cut the next word, which ends at a blank, off *@rest into *@word. Returns whether there was one. */
bool str_word(struct str *rest, struct str *word);

/** Write @c at @at, as \xNN if it is not printable ASCII. Returns the number of bytes, at most PLAIN_MAX. */
size_t plain_put(char *at, char c);
#define PLAIN_MAX 4

/** Whether @text is like @pattern, in which each '*' stands for any text. */
bool str_like(struct str text, struct str pattern);

/** Whether @text is like one of @patterns, a list that ends with NULL. */
bool str_like_any(struct str text, const char *const *patterns);

/** Whether @word, of letters, is one of the words in @text, in any case. */
bool str_has_word(struct str text, struct str word);
