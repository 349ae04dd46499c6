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

/** The number of leading characters of @text that are digits, or that are not, as @digits says. */
static size_t run_of(struct str text, bool digits) {
	size_t n = 0;
	while (n < text.len && (text.p[n] >= '0' && text.p[n] <= '9') == digits) {
		n++;
	}
	return n;
}

int duration_read(struct str text, uint64_t *out) {
	uint64_t sum = 0, number;
	if (run_of(text, true) == text.len) {
		int r = num_read(text, DURATION_MAX_MS / 1000, &number);
		if (r == 0) {
			*out = number * 1000;
		}
		return r;
	}
	bool above = false;
	for (size_t next = 0; text.len; next++) {
		size_t digits = run_of(text, true);
		int r = num_read((struct str){text.p, digits}, DURATION_MAX_MS, &number);
		if (r == -EINVAL) {
			return r;
		}
		text = str_from(text, digits);
		struct str name = {text.p, run_of(text, false)};
		text = str_from(text, name.len);
		while (next < N_UNITS && !str_eq(units[next].name, name)) {
			next++;
		}
		if (next == N_UNITS) {
			return -EINVAL;
		}
		// Read a value that is too long to its end: if it is malformed, -EINVAL takes
		// precedence.
		above = above || r < 0 || __builtin_mul_overflow(number, units[next].ms, &number) ||
			__builtin_add_overflow(sum, number, &sum) || sum > DURATION_MAX_MS;
	}
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
