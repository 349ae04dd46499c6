// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The environment that is being built. It starts as the one we were given, every entry of it byte for byte and in
 * its place (also those that are doubled or have no '='), and each entry that is changed remembers by whom.
 *
 * Texts are not copied: those given must stay as they are for as long as the block is used.
 */

#include "base/arena.h"
#include "base/str.h"

#include <stdint.h>

/** Who set or removed a variable, and why. */
struct origin {
	/** A framework's name, an option ("--set"), a file's path, or a variable ("DISTINIT_ENV"). */
	const char *by;
	/** The line in that file or variable, from 1. 0: there are no lines. */
	uint32_t line;
	/** One clause for `explain`, or NULL. */
	const char *why;
};

/** Flags, so that a search can ask for several. */
enum env_state {
	ENV_LIVE = 1,
	/** Removed for good. */
	ENV_GONE = 2,
	/** Put aside by `clean`; `pass` may bring it back. */
	ENV_ASIDE = 4,
};

struct env_entry {
	/** NAME=VALUE. */
	const char *text;
	/** Who set it; NULL: as inherited. */
	const struct origin *by;
	/** Who removed it or put it aside, unless it is live. */
	const struct origin *removed_by;
	/** Bytes before the '='. An entry without one has the length of its text, and no name. */
	uint32_t name_len;
	uint32_t hash;
	enum env_state state;
	/** The next entry of the same name: its index + 1, or 0. */
	uint32_t next;
};

struct env {
	struct arena *arena;
	/** `n` entries: the inherited ones in their order, then those that were added. */
	struct env_entry *entries;
	uint32_t n;
	uint32_t cap;
	/** What we started from: `n_inherited` texts, for comparison. */
	char *const *inherited;
	uint32_t n_inherited;
	/** Open addressing by name: index + 1 of the first entry of that name, or 0. */
	uint32_t *slots;
	/** Number of slots - 1, a power of two less one. */
	uint32_t mask;
};

/** One variable may hold this many bytes: NAME=VALUE and the NUL (the kernel's MAX_ARG_STRLEN). */
#define ENV_TEXT_MAX ((size_t)131072)

/** Begin with @inherited, which ends with NULL, as environ does. */
void env_init(struct env *env, struct arena *arena, char *const *inherited);

/** Return the value of @name, the first one where it is doubled, or NULL. */
const char *env_get(const struct env *env, const char *name);

/** The same, but NULL for an empty value too: in derivation an empty variable counts as unset. */
const char *env_value(const struct env *env, const char *name);

/** The same as env_get(), for a name that is a slice. */
const char *env_find(const struct env *env, struct str name);

/** Set @name to @value, once: an entry of that name is replaced in its place, a double of it removed. */
void env_set(struct env *env, struct str name, struct str value, const struct origin *by);

/** The same with NAME=VALUE in one text, which is kept, not copied. */
void env_set_text(struct env *env, const char *text, uint32_t name_len, const struct origin *by);

/** Remove @name, every entry of it, also those put aside; a final '*' stands for any rest. An absent one is fine. */
void env_unset(struct env *env, struct str name, const struct origin *by);

/** Put every variable aside. */
void env_clean(struct env *env, const struct origin *by);

/** Bring back what env_clean() put aside and @name (or 'PREFIX*') matches. Returns how many entries came. */
uint32_t env_pass(struct env *env, struct str name);

/** Whether @pattern, a name or a prefix with a final '*', matches @name. */
bool env_matches(struct str pattern, struct str name);

static inline struct str env_entry_name(const struct env_entry *entry) {
	return (struct str){entry->text, entry->name_len};
}

/** The value, "" for an entry without '='. */
static inline const char *env_entry_value(const struct env_entry *entry) {
	const char *end = entry->text + entry->name_len;
	return *end ? end + 1 : end;
}

/** Whether @entry, one of @env's, reaches the workload with another text than was inherited. */
bool env_entry_changed(const struct env *env, const struct env_entry *entry);

/** Whether @entry is the first of its name, in whatever state. */
bool env_entry_first(const struct env *env, const struct env_entry *entry);

/** The finished environment, in the arena, with NULL at its end, for execve(). */
char **env_vector(const struct env *env);
