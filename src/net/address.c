// SPDX-License-Identifier: Apache-2.0

#include "base/num.h"
#include "net/lookup.h"

static char *put_hex(char *at, unsigned number) {
	static const char digits[] = "0123456789abcdef";
	for (int shift = 12; shift >= 0; shift -= 4) {
		if (number >> shift || shift == 0) {
			*at++ = digits[number >> shift & 15];
		}
	}
	return at;
}

/** The longest run of at least two zero groups: *@at and its length. */
static unsigned find_zeros(const unsigned group[8], unsigned *at) {
	unsigned longest = 1, run = 0;
	*at = 8;
	for (unsigned i = 0; i < 8; i++) {
		run = group[i] ? 0 : run + 1;
		if (run > longest) {
			longest = run;
			*at = i + 1 - run;
		}
	}
	return longest;
}

/**
 * Follow RFC 5952: lower case, and "::" for the longest run of zeros, the first one if several are
 * equally long.
 */
static char *put_v6(char *at, const unsigned char bytes[16]) {
	unsigned group[8], zeros, begin;
	for (unsigned i = 0; i < 8; i++) {
		group[i] = (unsigned)bytes[2 * i] << 8 | bytes[2 * i + 1];
	}
	zeros = find_zeros(group, &begin);
	for (unsigned i = 0; i < 8; i++) {
		if (i == begin) {
			*at++ = ':';
			*at++ = ':';
			i += zeros - 1;
			continue;
		}
		if (i && i != begin + zeros) {
			*at++ = ':';
		}
		at = put_hex(at, group[i]);
	}
	return at;
}

void address_text(const struct address *address, char text[ADDRESS_TEXT]) {
	if (address->any.sa_family == AF_INET6) {
		*put_v6(text, address->v6.sin6_addr.s6_addr) = '\0';
		return;
	}
	const unsigned char *bytes = (const unsigned char *)&address->v4.sin_addr;
	for (int i = 0; i < 4; i++) {
		text += num_write(text, bytes[i]);
		*text++ = i < 3 ? '.' : '\0';
	}
}
