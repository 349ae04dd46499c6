// SPDX-License-Identifier: Apache-2.0

#include "base/nearest.h"

#include <stdio.h>

/** Longer words are not compared: they are hardly typing errors. */
#define LONGEST 48

static unsigned min(unsigned a, unsigned b) {
	return a < b ? a : b;
}

/** The number of edits (insert, remove, replace, swap) that turn @a into @b, both at most LONGEST long. */
static unsigned distance(struct str a, struct str b) {
	unsigned rows[3][LONGEST + 1];
	unsigned *before = rows[0], *above = rows[1], *row = rows[2];
	for (unsigned j = 0; j <= b.len; j++) {
		above[j] = j;
	}
	for (unsigned i = 1; i <= a.len; i++) {
		row[0] = i;
		for (unsigned j = 1; j <= b.len; j++) {
			bool same = a.p[i - 1] == b.p[j - 1];
			row[j] = min(above[j - 1] + !same, min(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1]) {
				row[j] = min(row[j], before[j - 2] + 1);
			}
		}
		unsigned *free_row = before;
		before = above;
		above = row;
		row = free_row;
	}
	return above[b.len];
}

void nearest_try(struct nearest *best, const char *candidate) {
	struct str other = str_of(candidate);
	if (best->word.len > LONGEST || other.len > LONGEST) {
		return;
	}
	size_t before = other.len - best->word.len;
	bool ends_so = other.len > best->word.len && best->word.len > 2 &&
		       (other.p[before - 1] == '-' || other.p[before - 1] == '_') &&
		       str_eq(str_from(other, before), best->word);
	// "port" is short for "master-port".
	unsigned d = ends_so ? 1 : distance(best->word, other);
	// Up to a third of the letters may differ.
	size_t longer = best->word.len > other.len ? best->word.len : other.len;
	if (d <= longer / 3 && (!best->found || d < best->distance)) {
		best->found = candidate;
		best->distance = d;
	}
}

struct hint nearest_hint(const struct nearest *best, const char *prefix) {
	struct hint hint = {""};
	if (best->found) {
		snprintf(hint.s, sizeof(hint.s), "; did you mean '%s%s'?", prefix, best->found);
	}
	return hint;
}
