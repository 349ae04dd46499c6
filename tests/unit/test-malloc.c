// SPDX-License-Identifier: Apache-2.0

/** The static programs' malloc() (base/malloc.c), which this program is linked with, too. */

#include "check.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

static bool is_zero(const unsigned char *bytes, size_t n) {
	for (size_t i = 0; i < n; i++) {
		if (bytes[i]) {
			return false;
		}
	}
	return true;
}

static void check_blocks(void) {
	static const size_t sizes[] = {0, 1, 15, 16, 17, 4096, 70000, 1000000};
	unsigned char *before = NULL;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		unsigned char *block = malloc(sizes[i]);
		checkf(block && (uintptr_t)block % 16 == 0, "%zu bytes, aligned", sizes[i]);
		memset(block, 0xaa, sizes[i]);
		checkf(!before || before[0] == 0x55, "%zu bytes: the block before is untouched", sizes[i]);
		before = malloc(16);
		memset(before, 0x55, 16);
	}
}

static void check_reuse(void) {
	unsigned char *first = malloc(100);
	memset(first, 0xff, 100);
	free(first);
	unsigned char *second = calloc(10, 10);
	check(second == first);
	check(is_zero(second, 100));
	unsigned char *other = malloc(10);
	free(second); // not the last one: it stays
	check(calloc(1, 10) != (void *)second);
	free(other);
	free(NULL);
}

static void check_realloc(void) {
	char *text = realloc(NULL, 8);
	memcpy(text, "1234567", 8);
	text = realloc(text, 100000);
	check_text(text, "1234567", "realloc() keeps what was there");
	text = realloc(text, 4);
	check(memcmp(text, "1234", 4) == 0);
}

static void check_refused(void) {
	volatile size_t huge = SIZE_MAX;
	errno = 0;
	check(malloc(huge) == NULL && errno == ENOMEM);
	errno = 0;
	check(calloc(huge / 2, 3) == NULL && errno == ENOMEM);
	char *text = malloc(4);
	check(realloc(text, huge) == NULL);
	memcpy(text, "abc", 4);
	check_text(text, "abc", "a block stays where realloc() fails");
}

int main(void) {
	check_blocks();
	check_reuse();
	check_realloc();
	check_refused();
	return check_done();
}
