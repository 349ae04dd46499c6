// SPDX-License-Identifier: Apache-2.0

/** Directive files: read, then applied to an environment with unusual entries. */

#include "env/directive.h"

#include "fuzz.h"

#define INPUT_MAX 8192

/** The value of the last variable leaves room for this many bytes. */
#define ROOM 16

static char big[ENV_TEXT_MAX - ROOM];

static char *const inherited[] = {
	(char[]){"PATH=/usr/bin:/bin"},
	(char[]){"A=1"},
	(char[]){"no equals"},
	(char[]){""},
	(char[]){"=nameless"},
	(char[]){"E="},
	(char[]){"A=2"},
	(char[]){"AB=;x;y;"},
	(char[]){"NL=a\nb\xff"},
	big,
	NULL,
};

/** The entries of the block, whatever was done to it. */
static void check_block(const struct env *env) {
	char **vector = env_vector(env);
	uint32_t live = 0;
	for (uint32_t i = 0; i < env->n; i++) {
		const struct env_entry *entry = &env->entries[i];
		struct str name = env_entry_name(entry);
		// Only one change has no origin: an inherited duplicate that a new value replaced.
		HOLDS(entry->state == ENV_LIVE || entry->by || i < env->n_inherited);
		if (entry->state != ENV_LIVE) {
			continue;
		}
		HOLDS(vector[live++] == entry->text);
		HOLDS(strlen(entry->text) < ENV_TEXT_MAX);
		if (entry->text[name.len] != '=') {
			HOLDS(i < env->n_inherited);
			continue;
		}
		const char *found = env_find(env, name);
		HOLDS(found != NULL);
		// A variable that was set exists once; only inherited ones can be duplicates.
		HOLDS(i < env->n_inherited || found == env_entry_value(entry));
	}
	HOLDS(vector[live] == NULL);
}

static int apply(const struct directive_levels *levels, struct env *env, struct notes *notes,
		 struct err *err) {
	env_init(env, notes->arena, inherited);
	int r = directives_apply(&levels->job, env, notes, err);
	return r < 0 ? r : directives_apply(&levels->app, env, notes, err);
}

static void check_levels(struct arena *arena, const struct directive_levels *levels) {
	for (uint32_t i = 0; i < levels->job.n; i++) {
		const struct directive *d = &levels->job.items[i];
		HOLDS(d->by && d->by->line > 0);
		HOLDS(d->verb == VERB_CLEAN || d->name.len > 0);
	}
	struct env env, again;
	struct notes notes = {.arena = arena};
	struct err err = {""};
	int r = apply(levels, &env, &notes, &err);
	HOLDS((r == 0) == (err.text[0] == '\0'));
	check_block(&env);

	// Do the same again: applying must not change what was read.
	HOLDS(apply(levels, &again, &notes, &err) == r);
	char **a = env_vector(&env), **b = env_vector(&again);
	for (; *a && *b; a++, b++) {
		HOLDS(strcmp(*a, *b) == 0);
	}
	HOLDS(!*a && !*b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (size > INPUT_MAX) {
		return 0;
	}
	memset(big, 'x', sizeof(big) - 1);
	memcpy(big, "BIG=", 4);

	struct arena arena = fuzz_arena();
	struct directive_levels levels = {{.arena = &arena}, {.arena = &arena}};
	struct err err = {""};
	int r = directive_read(&levels, "FILE", (struct str){(const char *)data, size}, "me", &err);
	if (r == 0) {
		check_levels(&arena, &levels);
	} else {
		HOLDS(strncmp(err.text, "FILE:", 5) == 0 && strlen(err.text) > 10);
	}
	arena_done(&arena);
	return 0;
}
