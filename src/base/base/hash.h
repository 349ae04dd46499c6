// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * A hash of texts that others choose. It has a secret key: with a known hash, an attacker can make
 * thousands of names with the same value, and each look-up would go through all of them.
 */

#include "base/str.h"

#include <stdint.h>

/** The key: random once hash_begin() was called, the same for the life of the process. */
extern uint64_t hash_key;

/**
 * Set the key from the random bytes that the kernel gives each program (AT_RANDOM), without a system
 * call.
 */
void hash_begin(void);

/** The @n bytes at @p, at most 8, as a number. Missing bytes are zero. */
static inline uint64_t word_load(const char *p, size_t n) {
	uint64_t word = 0;
	memcpy(&word, p, n);
	return word;
}

/** Both halves of the product, so that every bit of @a is mixed with the key. */
static inline uint64_t hash_mix(uint64_t a, uint64_t key) {
	__extension__ typedef unsigned __int128 wide;
	wide product = (wide)a * key;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/** Hash all bytes of @text. */
static inline uint64_t hash_text(struct str text) {
	const uint64_t key = hash_key;
	uint64_t hash = text.len ^ key;
	const char *p = text.p;
	size_t left = text.len;
	for (; left > 8; left -= 8, p += 8) {
		hash = hash_mix(hash ^ word_load(p, 8), key);
	}
	if (left >= 4) {
		hash ^= word_load(p, 4) << 32 ^ word_load(p + left - 4, 4);
	} else if (left) {
		hash ^= (uint64_t)(unsigned char)p[0] << 16 ^ (uint64_t)(unsigned char)p[left / 2] << 8 ^
			(unsigned char)p[left - 1];
	}
	return hash_mix(hash, key);
}
