// SPDX-License-Identifier: Apache-2.0

/**
 * The whole of distrun, in the world that the input describes (world.h): squeue, sinfo and srun print what the input
 * says, the site's file and /proc are those of the input. Messages and reports show nothing that a terminal obeys.
 */

#include "world.h"

#include "base/json_read.h"

#include <cjson/cJSON.h>
#include <string.h>

static bool has_word(const struct world *w, const char *what) {
	for (char **word = w->words; *word; word++) {
		if (strstr(*word, what)) {
			return true;
		}
	}
	return false;
}

static bool has_foreign_word(const struct world *w) {
	for (char **word = w->words; *word; word++) {
		if (!is_plain(str_of(*word)) || strchr(*word, '\n')) {
			return true;
		}
	}
	return false;
}

/** What is printed for programs, and for people. */
static void check_printed(const struct world *w, const struct outcome *out) {
	bool dry = has_word(w, "dry");
	if (has_word(w, "json") && !dry && out->out.len && out->out.p[0] == '{') {
		struct cJSON *json = NULL;
		struct err err;
		HOLDS(json_read("OUTPUT", out->out.p, &json, &err) == 0);
		cJSON_Delete(json);
	} else if (w->n_words && (strcmp(w->words[0], "analyze") == 0 || strcmp(w->words[0], "where") == 0)) {
		// What was typed is shown as a shell takes it.
		HOLDS(dry || has_foreign_word(w) || is_plain(out->out));
	}
}

/** Of what a tool prints, a megabyte is kept at most. */
static size_t memory_most(const struct world *w) {
	size_t bytes = w->bytes;
	for (unsigned i = 0; i < w->n_tools; i++) {
		bytes -= w->tools[i].text.len;
	}
	return ((size_t)5 << 20) + 400 * bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct world world;
	struct outcome out;
	if (!world_begin(&world, data, size, 64U << 10)) {
		return 0;
	}
	world.memory_most = memory_most(&world);
	world_run(&world, world.words, &out);
	if (!has_word(&world, "-v") && !has_word(&world, "log")) {
		// With these, what srun says on stderr is passed on as it is.
		HOLDS(is_plain(out.err));
	}
	check_printed(&world, &out);
	world_end(&world);
	return 0;
}
