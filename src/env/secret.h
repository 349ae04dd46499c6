// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Secret values: how `explain` and messages show them. */

#include "base/arena.h"
#include "base/err.h"

/**
 * Whether @name, of a variable or an option, says that its value is secret. It does if it contains
 * TOKEN, SECRET, PASSWORD, PASSWD, PASSPHRASE, CREDENTIAL or APIKEY, or if its last word is KEY,
 * PWD, PASS or PAT. It does not if it only contains TOKENIZER, or ends with FILE, PATH or DIR:
 * these name the place of a secret. Lower case counts as upper case, and '-' as '_'.
 */
bool secret_name(struct str name);

/**
 * What to show as the value of the variable @name: "********" for a secret, else @value with the
 * passwords of URLs masked.
 */
const char *secret_mask(struct arena *arena, const char *name, const char *value);

/**
 * What to show for a word of a command line: values after the '=' of a secret name and passwords of
 * URLs are masked.
 */
const char *secret_mask_word(struct arena *arena, const char *word);

/** The same in quotes, for a message. */
struct quoted secret_quote_word(struct arena *arena, const char *word);
