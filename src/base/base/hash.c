// SPDX-License-Identifier: Apache-2.0

#include "base/hash.h"

#include <sys/auxv.h>

uint64_t hash_key = 0x9e3779b97f4a7c15u;

void hash_begin(void) {
	const char *random = (const char *)getauxval(AT_RANDOM);
	if (random) {
		// Make it odd: an even factor loses bits.
		hash_key = word_load(random, 8) | 1;
	}
}
