// SPDX-License-Identifier: Apache-2.0

#include "env/env.h"

#include "base/hash.h"

/** Room for what derivation and a few directives add, without growing. */
#define SPARE 24

/** Go from the occupied @slot to the slot of @name, whose hash is @hash, or to a free one. */
static uint32_t probe(const struct env *env, uint32_t slot, uint32_t hash, struct str name) {
	for (; env->slots[slot]; slot = (slot + 1) & env->mask) {
		const struct env_entry *entry = &env->entries[env->slots[slot] - 1];
		if (entry->hash == hash && str_eq(env_entry_name(entry), name)) {
			break;
		}
	}
	return slot;
}

/** Where that is. Most names that are asked for are not there, and their place is free. */
static inline uint32_t slot_of(const struct env *env, uint32_t hash, struct str name) {
	uint32_t slot = hash & env->mask;
	return env->slots[slot] ? probe(env, slot, hash, name) : slot;
}

/** Remember how a name begins: the first @name_len bytes of @text. */
static inline void note_start(struct env *env, const char *text, uint32_t name_len) {
	uint32_t bit = env_start(text[0], name_len > 1 ? text[1] : '\0');
	env->starts[bit / 32] |= 1u << bit % 32;
}

static bool has_name(const struct env_entry *entry) {
	return entry->text[entry->name_len] == '=';
}

/**
 * Index all entries, with room for `cap` of them. From the last to the first: then the first entry of
 * a name is the head of its chain.
 */
static void index_all(struct env *env) {
	uint32_t slots = 64;
	while (slots < env->cap * 2) {
		slots *= 2;
	}
	env->slots = arena_array(env->arena, slots, sizeof(*env->slots));
	env->mask = slots - 1;
	memset(env->slots, 0, slots * sizeof(*env->slots));
	for (uint32_t i = env->n; i-- > 0;) {
		struct env_entry *entry = &env->entries[i];
		if (has_name(entry)) {
			uint32_t *slot = &env->slots[slot_of(env, entry->hash, env_entry_name(entry))];
			entry->next = *slot;
			*slot = i + 1;
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
		struct str name = {text, (size_t)(strchrnul(text, '=') - text)};
		env->entries[i] = (struct env_entry){.text = text,
						     .name_len = (uint32_t)name.len,
						     .hash = (uint32_t)hash_text(name),
						     .state = ENV_LIVE};
		note_start(env, text, (uint32_t)name.len);
	}
	index_all(env);
}

void env_copy(const struct env *env, struct env *out) {
	*out = *env;
	out->entries = arena_array(env->arena, env->cap, sizeof(*env->entries));
	memcpy(out->entries, env->entries, env->n * sizeof(*env->entries));
	out->slots = arena_array(env->arena, env->mask + (size_t)1, sizeof(*env->slots));
	memcpy(out->slots, env->slots, (env->mask + (size_t)1) * sizeof(*env->slots));
}

/** One walk over the entries of a name, in the order of the block. */
struct walk {
	/** Index + 1 of the entry that comes next, and of the last one that came; or 0. */
	uint32_t next;
	uint32_t last;
};

/** Index + 1 of the first entry of @name, or 0. */
static inline uint32_t first_of(const struct env *env, struct str name) {
	return env->slots[slot_of(env, (uint32_t)hash_text(name), name)];
}

/** The walk's next entry that is in one of @states, or NULL. */
static struct env_entry *walk_next(const struct env *env, struct walk *walk, unsigned states) {
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

const char *env_find(const struct env *env, struct str name) {
	struct walk walk = {first_of(env, name), 0};
	const struct env_entry *entry = walk.next ? walk_next(env, &walk, ENV_LIVE) : NULL;
	return entry ? env_entry_value(entry) : NULL;
}

const char *env_get(const struct env *env, const char *name) {
	return env_may_have(env, name) ? env_find(env, str_of(name)) : NULL;
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
	uint32_t hash = (uint32_t)hash_text(name);
	uint32_t *slot = &env->slots[slot_of(env, hash, name)];
	struct walk walk = {*slot, 0};
	struct env_entry *place = NULL;
	struct env_entry *entry;
	while ((entry = walk_next(env, &walk, ENV_LIVE | ENV_ASIDE))) {
		if (!place && entry->state == ENV_LIVE) {
			place = entry;
		} else {
			entry->state = ENV_GONE;
			entry->removed_by = by;
		}
	}
	if (place) {
		place->text = text;
		place->by = by;
		return;
	}
	env->entries[env->n++] = (struct env_entry){
		.text = text, .by = by, .name_len = name_len, .hash = hash, .state = ENV_LIVE};
	note_start(env, text, name_len);
	*(walk.last ? &env->entries[walk.last - 1].next : slot) = env->n;
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
	struct walk walk = {prefix ? 0 : first_of(env, name), 0};
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
