// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Text by the word: what is done for each byte of a large list is done for eight or sixteen at a time. */

#include "base/str.h"

#include <stdint.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "the first byte of a text is taken for a word's lowest");

/** The @n bytes at @p as a number, at most 8, the rest zero. */
static inline uint64_t word_load(const char *p, size_t n) {
	uint64_t word = 0;
	memcpy(&word, p, n);
	return word;
}

/** 0x80 in each byte of the result where @word has the byte @c, and 0 elsewhere. */
static inline uint64_t word_bytes_equal(uint64_t word, char c) {
	const uint64_t low = 0x7f7f7f7f7f7f7f7fu;
	uint64_t x = word ^ (unsigned char)c * 0x0101010101010101u;
	return ~(((x & low) + low) | x | low);
}

/** How many bytes word_bytes_equal() has found. */
static inline uint32_t word_count(uint64_t found) {
	return (uint32_t)((found >> 7) * 0x0101010101010101u >> 56);
}
