// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Helpers for all fuzz targets: an arena for each input, and a report for a check that fails. */

#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_fail(const char *what) {
	(void)fprintf(stderr, "does not hold: %s\n", what);
	abort();
}

/** A check that must hold for every input. */
#define HOLDS(condition) ((condition) ? (void)0 : fuzz_fail(#condition))

/** Inputs are small, so memory cannot run out: the code asked for far too much. */
static inline void fuzz_full(size_t size) {
	(void)fprintf(stderr, "asks for %zu bytes\n", size);
	abort();
}

static inline struct arena fuzz_arena(void) {
	struct arena arena;
	arena_init(&arena, NULL, 0, fuzz_full);
	return arena;
}
