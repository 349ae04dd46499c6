// SPDX-License-Identifier: Apache-2.0

/**
 * Time and memory: distinit in a world (world.h) that *N makes large. What it takes grows with the input, and not with
 * its square. Only options, and a program.
 */

#include "world.h"

#include <string.h>

/** A quadratic step of this many bytes takes minutes. */
#define MOST (1200U << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static char explain[] = "explain", end[] = "--", program[] = "/prog";
	struct world world;
	struct outcome out;
	if (!world_begin(&world, data, size, MOST)) {
		return 0;
	}
	char **words = arena_array(&world.arena, world.n_words + 4, sizeof(*words));
	memcpy(words + 1, world.words, (world.n_words + 1) * sizeof(*words));
	words[0] = explain;
	world.called = NULL;
	world_run(&world, words, &out);
	outcome_check(&world, &out, "distinit");
	words[world.n_words + 1] = end;
	words[world.n_words + 2] = program;
	words[world.n_words + 3] = NULL;
	world_run(&world, words + 1, &out);
	outcome_check(&world, &out, "distinit");
	world_end(&world);
	return 0;
}
