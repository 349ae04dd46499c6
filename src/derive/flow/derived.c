// SPDX-License-Identifier: Apache-2.0

#include "flow/derived.h"

#include "base/buf.h"
#include "flow/frameworks.h"

#include <stdio.h>
#include <string.h>

#define DIGEST_DIGITS 16

struct digest {
	char s[DIGEST_DIGITS + 1];
};

/** The digest is FNV-1a: all versions of distinit must compute the same one, and it protects no secret. */
static struct digest digest_of(const char *value) {
	struct digest digest;
	uint64_t hash = 0xcbf29ce484222325;
	for (; *value; value++) {
		hash = (hash ^ (unsigned char)*value) * 0x100000001b3;
	}
	snprintf(digest.s, sizeof(digest.s), "%016llx", (unsigned long long)hash);
	return digest;
}

static bool is_framework(const char *name) {
	for (size_t i = 0; frameworks[i]; i++) {
		if (frameworks[i]->name == name) {
			return true;
		}
	}
	return false;
}

/** Whether @name, MASTER_ADDR or MASTER_PORT, is given: by that variable or by @setting. */
static bool is_given(const struct env *env, const char *name, const struct setting *setting) {
	bool given = setting->value;
	for (uint32_t i = 0; i < env->n; i++) {
		const struct env_entry *entry = &env->entries[i];
		given = given || (entry->state == ENV_LIVE && !entry->by && *env_entry_value(entry) &&
				  str_is(env_entry_name(entry), name));
	}
	return given;
}

void derived_mark(struct flow *f) {
	static const struct origin ours = {.by = "distinit",
					   .why = "a job script: distinit in its steps derives these anew"};
	if (!f->has_cluster || f->cluster.scope != SCOPE_ALLOCATION) {
		return;
	}
	bool addr_given = is_given(f->env, "MASTER_ADDR", &f->input.master_addr);
	bool port_given = is_given(f->env, "MASTER_PORT", &f->input.master_port);
	struct buf mark = BUF(f->arena);
	for (uint32_t i = 0; i < f->env->n; i++) {
		const struct env_entry *entry = &f->env->entries[i];
		struct str name = env_entry_name(entry);
		bool given = str_is(name, "MASTER_ADDR")   ? addr_given
			     : str_is(name, "MASTER_PORT") ? port_given
							   : addr_given || port_given;
		if (entry->state == ENV_LIVE && entry->by && is_framework(entry->by->by) && !given) {
			buf_puts(&mark, mark.len ? ":" : "");
			buf_put(&mark, name);
			buf_putc(&mark, '=');
			buf_puts(&mark, digest_of(env_entry_value(entry)).s);
		}
	}
	if (mark.len) {
		env_set(f->env, STR(DERIVED_NAME), buf_str(&mark), &ours);
	}
}

void derived_remove(struct flow *f, uint32_t set) {
	static const struct origin ours = {
		.by = "distinit", .why = "the job script's distinit has set it, and here it is not derived"};
	struct str rest = str_of(set ? f->wants.derived : NULL), piece;
	while (rest.p && str_cut(&rest, ':', &piece)) {
		size_t len = str_find(piece, '=');
		struct str name = {piece.p, len}, digest = str_from(piece, len + (len < piece.len));
		const char *value = env_find(f->env, name);
		bool master = str_is(name, "MASTER_ADDR") || str_is(name, "MASTER_PORT");
		if (value && str_is(digest, digest_of(value).s) &&
		    (master || frameworks_set_variable(set, name))) {
			env_unset(f->env, name, &ours);
		}
	}
}
