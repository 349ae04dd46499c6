// SPDX-License-Identifier: Apache-2.0

#include "env/carried.h"

#include "env/bundle.h"

#include <errno.h>

/** If APPTAINERENV_X or SINGULARITYENV_X is set, the runtime sets X in the container. */
static const char *const names[] = {"DISTINIT_CARRIED", "APPTAINERENV_DISTINIT_CARRIED",
				    "SINGULARITYENV_DISTINIT_CARRIED"};

#define N_NAMES (sizeof(names) / sizeof(names[0]))

/**
 * The value if there is nothing to carry. An empty one would look like a variable that was emptied on its
 * way.
 */
#define NOTHING "-"

static void remove_names(struct env *env) {
	for (size_t i = 0; i < N_NAMES; i++) {
		env_unset(env, str_of(names[i]), NULL);
	}
}

bool carried_is(const char *entry) {
	const struct str name = {entry, str_find(str_of(entry), '=')};
	for (size_t i = 0; i < N_NAMES; i++) {
		if (str_is(name, names[i])) {
			return true;
		}
	}
	return false;
}

/**
 * Write @text without characters that are special in a shell: Apptainer evaluates values as if they were
 * in double quotes, or, with --no-eval, puts them in single quotes.
 */
static void put_safe(struct buf *out, const char *text) {
	static const char safe[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_=-.,:/ []()";
	for (; *text; text++) {
		if (strchr(safe, *text)) {
			buf_putc(out, *text);
		} else {
			buf_putf(out, "%%%02x", (unsigned char)*text);
		}
	}
}

int carried_pack(struct env *env, struct err *err) {
	struct buf out = BUF(env->arena);
	remove_names(env);
	for (uint32_t i = 0; i < env->n; i++) {
		const struct env_entry *entry = &env->entries[i];
		if (bundle_of_worker(env_entry_name(entry)) && env_entry_counts(env, entry)) {
			buf_puts(&out, out.len ? "&" : "");
			put_safe(&out, entry->text);
		}
	}
	buf_puts(&out, out.len ? "" : NOTHING);
	if (out.len + strlen(names[2]) + sizeof("=") > ENV_TEXT_MAX) {
		return err_set(
			err, E2BIG,
			"the variables for a container (SLURM_*, DISTINIT_* and the like) take %zu bytes, "
			"but one variable can have %zu; track fewer variables in DISTINIT_TRACK",
			out.len, ENV_TEXT_MAX - strlen(names[2]) - sizeof("="));
	}
	for (size_t i = 0; i < N_NAMES; i++) {
		env_set(env, str_of(names[i]), buf_str(&out), NULL);
	}
	return 0;
}

/** The value of a hexadecimal digit, or more than 15. */
static unsigned digit(char c) {
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;
	return at ? (unsigned)(at - digits) : 16;
}

/** Decode a text of put_safe() into the arena. Returns NULL if it is malformed. */
static char *read_safe(struct arena *arena, struct str text) {
	struct buf out = BUF(arena);
	// The text may be a secret: make all room now, because a buf that moves leaves a copy.
	buf_reserve(&out, text.len + 1);
	for (size_t i = 0; i < text.len; i++) {
		char c = text.p[i];
		if (c == '%') {
			unsigned high = i + 2 < text.len ? digit(text.p[i + 1]) : 16;
			unsigned low = high < 16 ? digit(text.p[i + 2]) : 16;
			if (low > 15 || high + low == 0) {
				return NULL;
			}
			c = (char)(high << 4 | low);
			i += 2;
		}
		buf_putc(&out, c);
	}
	return buf_text(&out);
}

int carried_unpack(struct env *env, struct err *err) {
	const char *text = env_get(env, names[0]);
	if (!text) {
		return err_set(err, ENOENT,
			       "%s, in which distrun hands over ranks and variables, has not arrived: "
			       "the container was started without the host's environment; "
			       "leave out the option that clears it",
			       names[0]);
	}
	struct str rest = str_of(strcmp(text, NOTHING) == 0 ? NULL : text), part;
	while (rest.p && str_cut(&rest, '&', &part)) {
		char *entry = read_safe(env->arena, part);
		struct str name = {entry, entry ? str_find(str_of(entry), '=') : 0};
		if (!entry || !entry[name.len]) {
			return err_set(err, EINVAL,
				       "%s was changed on its way; "
				       "distrun has set it, and it has to arrive as it was",
				       names[0]);
		}
		if (!env_find(env, name)) {
			env_set_text(env, entry, (uint32_t)name.len, NULL);
		} else {
			// The text may be a secret, and no other code erases this copy.
			explicit_bzero(entry, strlen(entry));
		}
	}
	remove_names(env);
	return 0;
}
