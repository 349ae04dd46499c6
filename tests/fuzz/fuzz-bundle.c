// SPDX-License-Identifier: Apache-2.0

/**
 * Bundles: a bundle is read back as it was written. A part of a bundle, or one with a flipped bit,
 * is refused.
 * The input: a byte of flags, the tracked names, then the entries of an environment, each ended by
 * a NUL.
 */

#include "env/bundle.h"

#include "fuzz.h"

#define INPUT_MAX   4096
#define ENTRIES_MAX 64

static void check_same(const struct env *env, const struct directive_levels *levels, bool carry_unset) {
	HOLDS(levels->app.n == 0);
	for (uint32_t i = 0; i < levels->job.n; i++) {
		const struct directive *d = &levels->job.items[i];
		const char *value = env_find(env, d->name);
		HOLDS(d->by->line == i + 2);
		HOLDS(d->verb == VERB_SET || (d->verb == VERB_UNSET && carry_unset));
		HOLDS(d->verb == VERB_SET ? value && str_is(d->value, value) : !value);
		for (uint32_t j = 0; j < i; j++) {
			HOLDS(!str_eq(levels->job.items[j].name, d->name));
		}
	}
}

/** Whether @text is read as directives. */
static bool is_taken(struct arena *arena, struct str text) {
	struct directive_levels levels = {{.arena = arena}, {.arena = arena}};
	struct err err = {""};
	int r = directive_read(&levels, "FILE", text, NULL, &err);
	HOLDS((r == 0) == (err.text[0] == '\0'));
	return r == 0;
}

static void check_damage(struct arena *arena, struct str whole, const uint8_t *data, size_t size) {
	// Any choice will do that depends on the input.
	size_t choice = size;
	for (size_t i = 0; i < size; i++) {
		choice = choice * 31 + data[i];
	}
	size_t at = choice % (whole.len - 1);
	HOLDS(at == 0 || !is_taken(arena, (struct str){whole.p, at}));
	char *copy = arena_text(arena, whole.p, whole.len);
	copy[at] = (char)(copy[at] ^ 1 << (choice >> 16) % 8);
	HOLDS(!is_taken(arena, (struct str){copy, whole.len}));
}

static void check_input(struct arena *arena, const uint8_t *data, size_t size) {
	struct str rest = {(const char *)data + 1, size - 1}, names = {0}, entry;
	char *entries[ENTRIES_MAX + 1] = {0};
	unsigned n = 0;
	str_cut(&rest, '\0', &names);
	while (n < ENTRIES_MAX && str_cut(&rest, '\0', &entry)) {
		entries[n++] = arena_text(arena, entry.p, entry.len);
	}
	struct bundle_request request = {
		.names = names, .names_from = "TRACK", .force = data[0] & 1, .carry_unset = data[0] & 2};
	struct env env;
	struct notes notes = {.arena = arena};
	struct err err = {""};
	struct buf out = BUF(arena);
	env_init(&env, arena, entries);
	int r = bundle_write(&request, &env, &out, &notes, &err);
	HOLDS((r == 0) == (err.text[0] == '\0'));
	if (r < 0) {
		return;
	}
	struct directive_levels levels = {{.arena = arena}, {.arena = arena}};
	HOLDS(directive_read(&levels, "FILE", buf_str(&out), NULL, &err) == 0);
	check_same(&env, &levels, request.carry_unset);
	check_damage(arena, buf_str(&out), data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (size == 0 || size > INPUT_MAX) {
		return 0;
	}
	struct arena arena = fuzz_arena();
	check_input(&arena, data, size);
	arena_done(&arena);
	return 0;
}
