// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Values that are nobody's business: what `explain` and messages show of them. */

#include "base/arena.h"
#include "base/str.h"

/**
 * Whether @name, of a variable or an option, says that its value is secret: TOKEN, SECRET, PASSWORD, PASSWD, PASSPHRASE,
 * CREDENTIAL or APIKEY in it, or KEY, PWD, PASS or PAT as its last word. A TOKENIZER is none, nor what ends with FILE, PATH or DIR: that
 * only says where the secret is. Lower case and '-' count as upper case and '_'.
 */
bool secret_name(struct str name);

/** What to show of the variable @name: "********" for a secret, else @value, in which the passwords of URLs are masked. */
const char *secret_mask(struct arena *arena, const char *name, const char *value);

/** What to show of a word of a command line: behind the '=' of a secret's name it is masked, as are passwords of URLs. */
const char *secret_mask_word(struct arena *arena, const char *word);
