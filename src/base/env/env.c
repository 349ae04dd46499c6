// SPDX-License-Identifier: Apache-2.0

#include "env/env.h"

#include "base/hash.h"

/** Room for the variables that derivation and a few directives add, without growing. */
#define SPARE 24

static bool has_name(const struct env_entry *entry) {
	return entry->text[entry->name_len] == '=';
}

/**
 * Index all entries, from the last to the first, so that the first entry of a name is the head of its
 * chain.
 */
static void index_all(struct env *env) {
	table_init(&env->first, env->arena, env->n);
	for (uint32_t i = env->n; i-- > 0;) {
		struct env_entry *entry = &env->entries[i];
		if (has_name(entry)) {
			uint32_t *first = table_put(&env->first, env_entry_name(entry));
			entry->next = *first;
			*first = i + 1;
		}
	}
}

void env_init(struct env *env, struct arena *arena, char *const *inherited) {
	uint32_t n = 0;
	while (inherited[n]) {
		n++;
	}
	hash_begin();
	*env = (struct env){
		.arena = arena, .inherited = inherited, .n = n, .n_inherited = n, .cap = n + SPARE};
	env->entries = arena_array(arena, env->cap, sizeof(*env->entries));
	for (uint32_t i = 0; i < n; i++) {
		const char *text = inherited[i];
		uint32_t len = (uint32_t)(strchrnul(text, '=') - text);
		env->entries[i] = (struct env_entry){.text = text, .name_len = len, .state = ENV_LIVE};
	}
	index_all(env);
}

void env_copy(const struct env *env, struct env *out) {
	*out = *env;
	out->entries = arena_array(env->arena, env->cap, sizeof(*env->entries));
	memcpy(out->entries, env->entries, env->n * sizeof(*env->entries));
	table_copy(&env->first, &out->first);
}

/** One walk over the entries of a name, in the order of the block. */
struct name_walk {
	/** Index + 1 of the next entry, and of the last one returned; 0: none. */
	uint32_t next;
	uint32_t last;
};

/** Index + 1 of the first entry of @name, or 0. */
static uint32_t first_of(const struct env *env, struct str name) {
	const uint32_t *first = table_find(&env->first, name);
	return first ? *first : 0;
}

/** The walk's next entry that is in one of @states, or NULL. */
static struct env_entry *walk_next(const struct env *env, struct name_walk *walk, unsigned states) {
	while (walk->next) {
		struct env_entry *entry = &env->entries[walk->next - 1];
		// Unlink removed entries: a name that is set and removed often stays cheap.
		while (entry->next && env->entries[entry->next - 1].state == ENV_GONE) {
			entry->next = env->entries[entry->next - 1].next;
		}
		walk->last = walk->next;
		walk->next = entry->next;
		if (entry->state & states) {
			return entry;
		}
	}
	return NULL;
}

/** The entry that the workload finds as @name, or NULL. */
static const struct env_entry *live_of(const struct env *env, struct str name) {
	struct name_walk walk = {first_of(env, name), 0};
	return walk.next ? walk_next(env, &walk, ENV_LIVE) : NULL;
}

const char *env_find(const struct env *env, struct str name) {
	const struct env_entry *entry = live_of(env, name);
	return entry ? env_entry_value(entry) : NULL;
}

const char *env_get(const struct env *env, const char *name) {
	return env_find(env, str_of(name));
}

const char *env_value(const struct env *env, const char *name) {
	const char *value = env_get(env, name);
	return value && *value ? value : NULL;
}

/** Make room for one more entry. */
static void grow(struct env *env) {
	struct env_entry *old = env->entries;
	env->cap *= 2;
	env->entries = arena_array(env->arena, env->cap, sizeof(*env->entries));
	memcpy(env->entries, old, env->n * sizeof(*old));
	index_all(env);
}

void env_set_text(struct env *env, const char *text, uint32_t name_len, const struct origin *by) {
	if (env->n == env->cap) {
		grow(env);
	}
	struct str name = {text, name_len};
	uint32_t *first = table_put(&env->first, name);
	struct name_walk walk = {*first, 0};
	struct env_entry *live = NULL;
	struct env_entry *entry;
	while ((entry = walk_next(env, &walk, ENV_LIVE | ENV_ASIDE))) {
		if (!live && entry->state == ENV_LIVE) {
			live = entry;
		} else {
			entry->state = ENV_GONE;
			entry->removed_by = by;
		}
	}
	if (live) {
		live->text = text;
		live->by = by;
		return;
	}
	env->entries[env->n++] =
		(struct env_entry){.text = text, .by = by, .name_len = name_len, .state = ENV_LIVE};
	*(walk.last ? &env->entries[walk.last - 1].next : first) = env->n;
}

void env_set(struct env *env, struct str name, struct str value, const struct origin *by) {
	char *text = arena_alloc(env->arena, name.len + value.len + 2);
	memcpy(text, name.p, name.len);
	text[name.len] = '=';
	if (value.len) {
		memcpy(text + name.len + 1, value.p, value.len);
	}
	text[name.len + 1 + value.len] = '\0';
	env_set_text(env, text, (uint32_t)name.len, by);
}

bool env_matches(struct str pattern, struct str name) {
	if (pattern.len && pattern.p[pattern.len - 1] == '*') {
		pattern.len--;
		return str_starts(name, pattern);
	}
	return str_eq(pattern, name);
}

/** Change the state of the entries that match @name from @from to @to. Returns their number. */
static uint32_t move_matching(struct env *env, struct str name, unsigned from, enum env_state to,
			      const struct origin *by) {
	uint32_t moved = 0;
	bool prefix = name.len && name.p[name.len - 1] == '*';
	struct name_walk walk = {prefix ? 0 : first_of(env, name), 0};
	for (uint32_t i = 0;; i++) {
		struct env_entry *entry;
		if (prefix) {
			entry = i < env->n ? &env->entries[i] : NULL;
		} else {
			entry = walk_next(env, &walk, from);
		}
		if (!entry) {
			return moved;
		}
		if (!prefix ||
		    ((entry->state & from) && has_name(entry) && env_matches(name, env_entry_name(entry)))) {
			entry->state = to;
			entry->removed_by = by;
			moved++;
		}
	}
}

void env_unset(struct env *env, struct str name, const struct origin *by) {
	move_matching(env, name, ENV_LIVE | ENV_ASIDE, ENV_GONE, by);
}

void env_clean(struct env *env, const struct origin *by) {
	for (uint32_t i = 0; i < env->n; i++) {
		struct env_entry *entry = &env->entries[i];
		if (entry->state == ENV_LIVE) {
			entry->state = ENV_ASIDE;
			entry->removed_by = by;
		}
	}
}

uint32_t env_pass(struct env *env, struct str name) {
	return move_matching(env, name, ENV_ASIDE, ENV_LIVE, NULL);
}

bool env_entry_changed(const struct env *env, const struct env_entry *entry) {
	uint32_t i = (uint32_t)(entry - env->entries);
	return entry->state == ENV_LIVE && entry->by &&
	       (i >= env->n_inherited || strcmp(entry->text, env->inherited[i]) != 0);
}

bool env_entry_first(const struct env *env, const struct env_entry *entry) {
	return first_of(env, env_entry_name(entry)) == (uint32_t)(entry - env->entries) + 1;
}

bool env_entry_counts(const struct env *env, const struct env_entry *entry) {
	return live_of(env, env_entry_name(entry)) == entry;
}

char **env_vector(const struct env *env) {
	char **vector = arena_array(env->arena, env->n + 1, sizeof(*vector));
	uint32_t n = 0;
	for (uint32_t i = 0; i < env->n; i++) {
		if (env->entries[i].state == ENV_LIVE) {
			vector[n++] = (char *)(uintptr_t)env->entries[i].text;
		}
	}
	vector[n] = NULL;
	return vector;
}
