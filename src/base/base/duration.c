// SPDX-License-Identifier: Apache-2.0

#include "base/duration.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

struct unit {
	struct str name;
	uint64_t ms;
};

/** Largest first: the order that a duration must have. */
static const struct unit units[] = {
	{{"d", 1}, 24 * 60 * 60 * 1000},
	{{"h", 1}, 60 * 60 * 1000},
	{{"m", 1}, 60 * 1000},
	{{"s", 1}, 1000},
	{{"ms", 2}, 1},
};
#define N_UNITS (sizeof(units) / sizeof(units[0]))

/** The number of leading characters of @text that are digits. */
static size_t digits_of(struct str text) {
	size_t n = 0;
	while (n < text.len && text.p[n] >= '0' && text.p[n] <= '9') {
		n++;
	}
	return n;
}

/** Cut the digits at the start of @text off. */
static struct str cut_digits(struct str *text) {
	struct str digits = {text->p, digits_of(*text)};
	*text = str_from(*text, digits.len);
	return digits;
}

/** Cut the name of a unit off the start of @text. */
static struct str cut_name(struct str *text) {
	size_t n = 0;
	while (n < text->len && text->p[n] != '.' && digits_of(str_from(*text, n)) == 0) {
		n++;
	}
	struct str name = {text->p, n};
	*text = str_from(*text, n);
	return name;
}

/** @fraction of @unit_ms, rounded up: a duration above 0 never becomes 0, which often means "no limit". */
static uint64_t part_of(struct str fraction, uint64_t unit_ms) {
	uint64_t ms = 0;
	bool rest = false;
	for (size_t i = fraction.len; i-- > 0;) {
		ms += (uint64_t)(fraction.p[i] - '0') * unit_ms;
		rest = rest || ms % 10;
		ms /= 10;
	}
	return ms + rest;
}

int duration_read(struct str text, uint64_t *out) {
	uint64_t sum = 0;
	bool above = false, first = true;
	size_t next = 0;
	do {
		uint64_t number = 0;
		struct str whole = cut_digits(&text), fraction = {"", 0};
		bool point = text.len && text.p[0] == '.';
		if (point) {
			text = str_from(text, 1);
			fraction = cut_digits(&text);
		}
		int r = whole.len ? num_read(whole, DURATION_MAX_MS, &number) : 0;
		struct str name = cut_name(&text);
		name = first && !name.len && !text.len ? STR("s") : name;
		while (next < N_UNITS && !str_eq(units[next].name, name)) {
			next++;
		}
		if ((point ? !fraction.len || text.len : !whole.len) || next == N_UNITS) {
			return -EINVAL;
		}
		// Read a value that is too long to its end: if it is malformed, -EINVAL takes
		// precedence.
		above = above || r < 0 || __builtin_mul_overflow(number, units[next].ms, &number) ||
			__builtin_add_overflow(sum, number, &sum) ||
			__builtin_add_overflow(sum, part_of(fraction, units[next].ms), &sum) ||
			sum > DURATION_MAX_MS;
		first = false;
		next++;
	} while (text.len);
	if (above) {
		return -ERANGE;
	}
	*out = sum;
	return 0;
}

struct duration_text duration_text(uint64_t ms) {
	struct duration_text out = {""};
	unsigned rest = (unsigned)(ms < 1000 ? ms : ms % 1000 / 100 * 100);
	size_t n = (size_t)snprintf(out.s, sizeof(out.s), "%" PRIu64 ".%03u", ms / 1000, rest);
	while (out.s[n - 1] == '0') {
		n--;
	}
	n -= out.s[n - 1] == '.';
	memcpy(out.s + n, "s", 2);
	return out;
}
