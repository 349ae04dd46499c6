// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Decides what looks like a secret, and masks it. quote() asks here for all messages. */

#include "base/arena.h"
#include "base/str.h"

/** The text shown in place of a secret. */
#define SECRET_MASK "********"

/**
 * Whether @name, of a variable or an option, says that its value is secret. It does if it contains
 * TOKEN, SECRET, PASSWORD, PASSWD, PASSPHRASE, CREDENTIAL, COOKIE, JWT, APIKEY, PRIVKEY or another of
 * the list in secret.c; or if its last word is KEY, PW, PWD, PASS, PAT, AUTH or SIG. It does not if it
 * only contains TOKENIZER, or ends with FILE, PATH or DIR, as these name a path. Lower case counts as
 * upper case, and '-' as '_'.
 */
bool secret_name(struct str name);

/** The range of a secret in a text, from `at` up to `end`; never empty. */
struct secret_span {
	size_t at;
	size_t end;
};

/**
 * Find the first secret in @text, which may be a line or a word of any kind, at or after @from:
 *
 * - the text after a secret name: NAME=VALUE, NAME: VALUE, "NAME": "VALUE", --NAME VALUE, set NAME VALUE,
 *   Bearer VALUE, -p VALUE, -pVALUE. It goes to the end of @text.
 * - the password of a URL, SCHEME://USER:PASSWORD@HOST
 * - a token of a well-known form, such as hf_..., ghp_..., AKIA... and JWTs; a PEM text
 *
 * Returns false if there is none.
 */
bool secret_find(struct str text, size_t from, struct secret_span *out);

/** @text with its secrets masked; @text itself if it has none. */
const char *secret_text(struct arena *arena, const char *text);

/**
 * The same, cut as by arena_cut(). Text beyond the cut is not searched, so a long text takes no more time.
 */
const char *secret_text_cut(struct arena *arena, const char *text, size_t most);

/**
 * The text to show for @value of the variable @name: SECRET_MASK if the name is secret, else @value with
 * its secrets masked.
 */
const char *secret_mask(struct arena *arena, const char *name, const char *value);

/** The same, cut as by secret_text_cut(). */
const char *secret_mask_cut(struct arena *arena, const char *name, const char *value, size_t most);

/**
 * The text to show for word @i of a command line: SECRET_MASK after --password or -p, else the word with
 * its secrets masked.
 */
const char *secret_word(struct arena *arena, char *const words[], size_t i);
