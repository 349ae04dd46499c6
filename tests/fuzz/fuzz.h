// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What all fuzz targets need: an arena per input, and a way to say that something does not hold. */

#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_fail(const char *what) {
	(void)fprintf(stderr, "does not hold: %s\n", what);
	abort();
}

/** What has to hold for whatever the input is. */
#define HOLDS(condition) ((condition) ? (void)0 : fuzz_fail(#condition))

/** Inputs are small, so memory is not what runs out: somebody asked for far too much of it. */
static inline void fuzz_full(size_t size) {
	(void)fprintf(stderr, "asks for %zu bytes\n", size);
	abort();
}

static inline struct arena fuzz_arena(void) {
	struct arena arena;
	arena_init(&arena, NULL, 0, fuzz_full);
	return arena;
}
