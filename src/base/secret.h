// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What looks like a secret, and how it is shown: the only judge. quote() asks here for all messages. */

#include "base/arena.h"
#include "base/str.h"

/** What stands for a secret. */
#define SECRET_MASK "********"

/**
 * Whether @name, of a variable or an option, says that its value is secret. It does if it contains
 * TOKEN, SECRET, PASSWORD, PASSWD, PASSPHRASE, CREDENTIAL, COOKIE, JWT, APIKEY, PRIVKEY or another of
 * the list in secret.c; or if its last word is KEY, PW, PWD, PASS, PAT, AUTH or SIG. It does not if it
 * only contains TOKENIZER, or ends with FILE, PATH or DIR: these name the place of a secret. Lower
 * case counts as upper case, and '-' as '_'.
 */
bool secret_name(struct str name);

/** Where a secret is in a text: from @at to before @end, and never empty. */
struct secret_span {
	size_t at;
	size_t end;
};

/**
 * Find the first secret in @text at or after @from, where a line or a word of anything may be:
 *
 * - what follows a secret name: NAME=VALUE, NAME: VALUE, "NAME": "VALUE", --NAME VALUE, set NAME VALUE,
 *   Bearer VALUE, -p VALUE, -pVALUE. It goes to the end of @text.
 * - the password of a URL, SCHEME://USER:PASSWORD@HOST
 * - a token of a well-known form, such as hf_..., ghp_..., AKIA... and JWTs; a PEM text
 *
 * Returns false if there is none.
 */
bool secret_find(struct str text, size_t from, struct secret_span *out);

/** @text with its secrets masked; @text itself if it has none. */
const char *secret_text(struct arena *arena, const char *text);

/** What to show as the value of the variable @name: SECRET_MASK for a secret, else @value, masked. */
const char *secret_mask(struct arena *arena, const char *name, const char *value);

/** Word @i of a command line as it is shown: SECRET_MASK behind --password or -p, else the word, masked. */
const char *secret_word(struct arena *arena, char *const words[], size_t i);
