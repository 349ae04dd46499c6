// SPDX-License-Identifier: Apache-2.0
#pragma once

/** "Did you mean": find the known word that is nearest to a mistyped one. */

#include "base/str.h"

/** The best candidate so far. Begin with `struct nearest best = {.word = mistyped}`. */
struct nearest {
	struct str word;
	/** NULL: no word is near enough. */
	const char *found;
	unsigned distance;
};

/** Compare @candidate. If it is near enough, and nearer than the best so far, it becomes the best. */
void nearest_try(struct nearest *best, const char *candidate);

/** "; did you mean 'WORD'?", or nothing, for the end of a message. */
struct hint {
	char s[80];
};

/** The hint for @best, its word after @prefix, such as "--". */
struct hint nearest_hint(const struct nearest *best, const char *prefix);
