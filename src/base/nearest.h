// SPDX-License-Identifier: Apache-2.0
#pragma once

/** "Did you mean": the known word that is nearest to a mistyped one. */

#include "base/str.h"

/** The best candidate so far. Begin with `struct nearest best = {.word = mistyped}`. */
struct nearest {
	struct str word;
	/** NULL: none is near enough. */
	const char *found;
	unsigned distance;
};

/** Try @candidate: it is kept if it is nearer than what was, and near enough to be what was meant. */
void nearest_try(struct nearest *best, const char *candidate);

/** "; did you mean 'WORD'?", or nothing, for the end of a message. */
struct hint {
	char s[80];
};

/** The hint for @best, its word with @prefix in front, such as "--". */
struct hint nearest_hint(const struct nearest *best, const char *prefix);
