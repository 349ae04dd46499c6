// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Little-endian numbers and bytes. put_...() write at @at and return the end. take_...() cut from the
 * beginning of @rest, and return whether @rest had enough bytes.
 */

#include "base/str.h"

#include <stdint.h>

static inline unsigned char *put_number(unsigned char *at, uint64_t number, unsigned bytes) {
	for (unsigned i = 0; i < bytes; i++) {
		*at++ = (unsigned char)(number >> 8 * i);
	}
	return at;
}

static inline unsigned char *put_u8(unsigned char *at, uint8_t number) {
	return put_number(at, number, 1);
}

static inline unsigned char *put_u16(unsigned char *at, uint16_t number) {
	return put_number(at, number, 2);
}

static inline unsigned char *put_u32(unsigned char *at, uint32_t number) {
	return put_number(at, number, 4);
}

static inline unsigned char *put_u64(unsigned char *at, uint64_t number) {
	return put_number(at, number, 8);
}

static inline unsigned char *put_bytes(unsigned char *at, const void *bytes, size_t n) {
	// @bytes may be NULL if @n is 0.
	return n ? mempcpy(at, bytes, n) : at;
}

static inline bool take_number(struct str *rest, uint64_t *out, unsigned bytes) {
	if (rest->len < bytes) {
		return false;
	}
	*out = 0;
	for (unsigned i = 0; i < bytes; i++) {
		*out |= (uint64_t)(unsigned char)rest->p[i] << 8 * i;
	}
	*rest = str_from(*rest, bytes);
	return true;
}

static inline bool take_u8(struct str *rest, uint8_t *out) {
	uint64_t number = 0;
	bool taken = take_number(rest, &number, 1);
	*out = (uint8_t)number;
	return taken;
}

static inline bool take_u16(struct str *rest, uint16_t *out) {
	uint64_t number = 0;
	bool taken = take_number(rest, &number, 2);
	*out = (uint16_t)number;
	return taken;
}

static inline bool take_u32(struct str *rest, uint32_t *out) {
	uint64_t number = 0;
	bool taken = take_number(rest, &number, 4);
	*out = (uint32_t)number;
	return taken;
}

static inline bool take_u64(struct str *rest, uint64_t *out) {
	return take_number(rest, out, 8);
}

/** Cut @n bytes off @rest, as a slice. */
static inline bool take_bytes(struct str *rest, size_t n, struct str *out) {
	if (rest->len < n) {
		return false;
	}
	*out = (struct str){rest->p, n};
	*rest = str_from(*rest, n);
	return true;
}
