// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The environment while it is built. It starts as the inherited one, byte for byte and in the same
 * order (including duplicates and entries without '='). Each changed entry has its origin.
 *
 * Texts are not copied: they must not change while the environment is in use.
 */

#include "base/arena.h"
#include "base/str.h"
#include "base/table.h"

#include <stdint.h>

/** The origin of a change to a variable. */
struct origin {
	/** A framework's name, an option ("--set"), a file's path, or a variable ("DISTINIT_ENV"). */
	const char *by;
	/** The line in that file or variable, from 1. 0: no line. */
	uint32_t line;
	/** One clause for `explain`, or NULL. */
	const char *why;
};

/** The states are flags, so that a search can accept several. */
enum env_state {
	ENV_LIVE = 1,
	/** Removed for good. */
	ENV_GONE = 2,
	/** Set aside by `clean`; `pass` may bring it back. */
	ENV_ASIDE = 4,
};

struct env_entry {
	/** NAME=VALUE. */
	const char *text;
	/** The origin of its value; NULL: inherited. */
	const struct origin *by;
	/** The origin of its removal, or of setting it aside; not used while the entry is live. */
	const struct origin *removed_by;
	/** The length of the name. An entry without '=' has no name: then the length of the whole text. */
	uint32_t name_len;
	enum env_state state;
	/** The next entry of the same name: its index + 1, or 0. */
	uint32_t next;
};

struct env {
	struct arena *arena;
	/** `n` entries: the inherited ones in their order, then the added ones. */
	struct env_entry *entries;
	uint32_t n;
	uint32_t cap;
	/** The inherited environment, for comparison: `n_inherited` texts. */
	char *const *inherited;
	uint32_t n_inherited;
	/** By name: the index + 1 of its first entry. */
	struct table first;
};

/** The largest variable, in bytes: NAME=VALUE and the NUL (the kernel's MAX_ARG_STRLEN). */
#define ENV_TEXT_MAX ((size_t)131072)

/** Initialise @env with @inherited, which ends with NULL, like environ. */
void env_init(struct env *env, struct arena *arena, char *const *inherited);

/** Initialise @out as a copy of @env as it is now. Later changes of @env do not change the copy. */
void env_copy(const struct env *env, struct env *out);

/** Return the value of @name, or NULL. If the name appears twice, the first value counts. */
const char *env_get(const struct env *env, const char *name);

/** The same, but NULL for an empty value, too: deriving treats empty variables as unset. */
const char *env_value(const struct env *env, const char *name);

/** The same as env_get(), for a name that is a slice. */
const char *env_find(const struct env *env, struct str name);

/**
 * Set @name to @value. If the name has an entry, its value is replaced where it stands, and duplicates
 * are removed.
 */
void env_set(struct env *env, struct str name, struct str value, const struct origin *by);

/** The same with NAME=VALUE in one text, which is not copied. */
void env_set_text(struct env *env, const char *text, uint32_t name_len, const struct origin *by);

/** Remove all entries of @name, also entries set aside. A final '*' matches any text. There may be none. */
void env_unset(struct env *env, struct str name, const struct origin *by);

/** Set all variables aside. */
void env_clean(struct env *env, const struct origin *by);

/**
 * Restore the entries that env_clean() set aside and that @name (or 'PREFIX*') matches. Returns their
 * number.
 */
uint32_t env_pass(struct env *env, struct str name);

/** Whether @pattern, a name or a prefix with a final '*', matches @name. */
bool env_matches(struct str pattern, struct str name);

static inline struct str env_entry_name(const struct env_entry *entry) {
	return (struct str){entry->text, entry->name_len};
}

/** The value; "" for an entry without '='. */
static inline const char *env_entry_value(const struct env_entry *entry) {
	const char *end = entry->text + entry->name_len;
	return *end ? end + 1 : end;
}

/** Whether the workload gets @entry, an entry of @env, with another text than the inherited one. */
bool env_entry_changed(const struct env *env, const struct env_entry *entry);

/** Whether @entry is the first entry of its name, in any state. */
bool env_entry_first(const struct env *env, const struct env_entry *entry);

/** Whether @entry is the one that the workload finds by its name. */
bool env_entry_counts(const struct env *env, const struct env_entry *entry);

/** The finished environment for execve(): an array in the arena that ends with NULL. */
char **env_vector(const struct env *env);
