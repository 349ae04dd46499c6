// SPDX-License-Identifier: Apache-2.0

/**
 * Command lines. The input is split at NULs: the first piece names the subcommand, the others are
 * its words, and entries of the environment as well. The values are then read as numbers, ports and
 * frameworks.
 */

#include "cluster/read.h"
#include "distinit/options.h"
#include "flow/frameworks.h"
#include "framework/framework.h"

#include "fuzz.h"

#define INPUT_MAX 4096
#define WORDS_MAX 256

static enum command command_of(struct str word) {
	return str_is(word, "env")	 ? CMD_ENV
	       : str_is(word, "explain") ? CMD_EXPLAIN
	       : str_is(word, "hosts")	 ? CMD_HOSTS
	       : str_is(word, "sources") ? CMD_TABLE
					 : CMD_RUN;
}

static void check_value(const char *value) {
	struct err err;
	uint32_t number = 0, set = 0;
	uint16_t port = 0;
	HOLDS(parse_u32("N", value, &number, &err) < 0 || number != UNKNOWN);
	HOLDS(parse_port("P", value, &port, &err) < 0 || port != 0);
	if (frameworks_parse("F", value, &set, &err) < 0) {
		HOLDS(set == 0 && err.text[0] == 'F');
	}
}

static void check_settings(struct arena *arena, struct settings *settings, struct overrides *overrides,
			   char **words) {
	for (unsigned id = 0; id < N_VALUES; id++) {
		HOLDS(settings_label(settings, id)[0] != '\0');
		HOLDS(!settings->value[id] || settings->given[id]);
		if (settings->value[id]) {
			check_value(settings->value[id]);
		}
	}
	struct env env;
	struct notes notes = {.arena = arena};
	struct err err = {""};
	env_init(&env, arena, words);
	int r = settings_read_variables(settings, &env, &notes, &err);
	HOLDS((r == 0) == (err.text[0] == '\0'));
	if (r == 0 && !settings_on(settings, OPT_KEEP_CONFIG)) {
		HOLDS(!env_get(&env, "DISTINIT_HOSTS") && !env_get(&env, "DISTINIT_ENV"));
	}
	directives_apply(&overrides->directives, &env, &notes, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (size > INPUT_MAX) {
		return 0;
	}
	struct arena arena = fuzz_arena();
	struct str rest = {(const char *)data, size}, first = {0}, word;
	char *words[WORDS_MAX + 1] = {0};
	unsigned n = 0;
	str_cut(&rest, '\0', &first);
	while (n < WORDS_MAX && str_cut(&rest, '\0', &word)) {
		words[n++] = arena_text(&arena, word.p, word.len);
	}

	struct settings settings;
	struct overrides overrides;
	struct err err = {""};
	int r = options_read(&settings, &overrides, &arena, command_of(first), words, &err);
	HOLDS((r == 0) == (err.text[0] == '\0'));
	if (r == 0) {
		HOLDS(settings.arguments >= words && settings.arguments <= words + n);
		check_settings(&arena, &settings, &overrides, words);
	}
	arena_done(&arena);
	return 0;
}
