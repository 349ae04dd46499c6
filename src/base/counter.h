// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * A decimal number that is counted on as text, in a register: where thousands of names differ by a number, dividing for each of
 * them is most of the cost.
 */

#include "base/num.h"
#include "base/word.h"

/** Most digits that it can have. */
#define COUNTER_DIGITS 8

/** Numbers from here on, and the one before, which is counted on at the end, are too long. */
#define COUNTER_END 99999999

struct counter {
	/** The digits, the first of them lowest, and what one more adds to them. */
	uint64_t word;
	uint64_t one;
	uint64_t number;
	/** Number of digits. */
	uint32_t len;
	/** How many more times `one` can be added. */
	uint32_t left;
	/** At least so many digits, by zeros in front. */
	uint32_t width;
};

/** Begin with @number, which must have, like @width, at most COUNTER_DIGITS digits. */
static inline struct counter counter_of(uint64_t number, uint32_t width) {
	char digits[NUM_DIGITS + COUNTER_DIGITS] = "00000000";
	uint32_t n = (uint32_t)num_write(digits + COUNTER_DIGITS, number);
	uint32_t len = n < width ? width : n;
	return (struct counter){
		.word = word_load(digits + COUNTER_DIGITS + n - len, 8),
		.one = (uint64_t)1 << 8 * (len - 1),
		.number = number,
		.len = len,
		.left = 9 - (uint32_t)(number % 10),
		.width = width,
	};
}

/** Carry from the last digit, which is a 9. Apart, so that loops that count need few registers. */
static __attribute__((noinline)) void counter_carry(struct counter *counter) {
	uint32_t digit = counter->len - 1;
	while (digit > 0 && (counter->word >> 8 * digit & 0xff) == '9') {
		counter->word -= (uint64_t)9 << 8 * digit--;
	}
	counter->number++;
	if ((counter->word & 0xff) == '9' && digit == 0) {
		*counter = counter_of(counter->number, counter->width);
		return;
	}
	counter->word += (uint64_t)1 << 8 * digit;
	counter->left = 9;
}

static inline void counter_next(struct counter *counter) {
	if (counter->left == 0) {
		counter_carry(counter);
		return;
	}
	counter->word += counter->one;
	counter->number++;
	counter->left--;
}

/** Write the digits at @at, where there is room for COUNTER_DIGITS. Returns the place behind them. */
static inline char *counter_put(const struct counter *counter, char *at) {
	memcpy(at, &counter->word, sizeof(counter->word));
	return at + counter->len;
}
