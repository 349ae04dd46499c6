// SPDX-License-Identifier: Apache-2.0

#include "base/num.h"

#include <errno.h>

int num_read(struct str text, uint64_t max, uint64_t *out) {
	uint64_t number = 0;
	bool above = false;
	for (size_t i = 0; i < text.len; i++) {
		unsigned digit = (unsigned char)text.p[i] - (unsigned)'0';
		if (digit > 9) {
			return -EINVAL;
		}
		above = above || __builtin_mul_overflow(number, 10, &number) ||
			__builtin_add_overflow(number, digit, &number) || number > max;
	}
	if (text.len == 0) {
		return -EINVAL;
	}
	if (above) {
		return -ERANGE;
	}
	*out = number;
	return 0;
}

int num_read_u32(struct str text, uint32_t *out) {
	uint64_t number;
	int r = num_read(text, UINT32_MAX - 1, &number);
	if (r == 0) {
		*out = (uint32_t)number;
	}
	return r;
}
