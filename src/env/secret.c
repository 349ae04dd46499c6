// SPDX-License-Identifier: Apache-2.0

#include "env/secret.h"

#include "base/buf.h"

#define MASKED "********"

/** @c in the form that the lists below use: in upper case, and '_' for '-'. */
static char folded(char c) {
	return c == '-' ? '_' : c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static bool is_at(struct str name, size_t at, const char *word) {
	for (; *word; word++, at++) {
		if (at >= name.len || folded(name.p[at]) != *word) {
			return false;
		}
	}
	return true;
}

/** Whether @name ends with one of @words. The list ends with NULL. */
static bool ends_with(struct str name, const char *const *words) {
	for (; *words; words++) {
		size_t len = strlen(*words);
		if (name.len > len && is_at(name, name.len - len, *words)) {
			return true;
		}
	}
	return false;
}

bool secret_name(struct str name) {
	static const char *const places[] = {"_FILE", "_PATH", "_DIR", NULL};
	static const char *const last[] = {"_KEY", "_PWD", "_PASS", "_PAT", NULL};
	static const char *const parts[] = {"SECRET",	  "PASSWORD", "PASSWD", "PASSPHRASE",
					    "CREDENTIAL", "APIKEY",   NULL};
	if (ends_with(name, places)) {
		return false;
	}
	for (size_t i = 0; i < name.len; i++) {
		for (const char *const *part = parts; *part; part++) {
			if (is_at(name, i, *part)) {
				return true;
			}
		}
		if (is_at(name, i, "TOKEN") && !is_at(name, i, "TOKENIZER")) {
			return true;
		}
	}
	return ends_with(name, last);
}

/** @text with the passwords of all URLs masked: SCHEME://USER:PASSWORD@HOST. */
static const char *mask_urls(struct arena *arena, const char *text) {
	struct buf out = BUF(arena);
	const char *from = text;
	for (const char *at = strstr(text, "://"); at; at = strstr(at, "://")) {
		at += 3;
		struct str authority = {at, strcspn(at, "/?# \t\n,'\"")};
		size_t host = authority.len;
		while (host > 0 && at[host - 1] != '@') {
			host--;
		}
		size_t colon = str_find((struct str){at, host}, ':');
		if (colon + 2 < host) {
			buf_put(&out, (struct str){from, (size_t)(at - from) + colon + 1});
			buf_puts(&out, MASKED);
			from = at + host - 1;
		}
	}
	if (from == text) {
		return text;
	}
	buf_puts(&out, from);
	return buf_text(&out);
}

const char *secret_mask(struct arena *arena, const char *name, const char *value) {
	return *value && secret_name(str_of(name)) ? MASKED : mask_urls(arena, value);
}

const char *secret_mask_word(struct arena *arena, const char *word) {
	const char *from = word;
	for (const char *equals = strchr(word, '='); equals; equals = strchr(from, '=')) {
		if (equals[1] && secret_name((struct str){from, (size_t)(equals - from)})) {
			return arena_format(arena, "%.*s" MASKED, (int)(equals + 1 - word), word);
		}
		from = equals + 1;
	}
	return mask_urls(arena, word);
}

struct quoted secret_quote_word(struct arena *arena, const char *word) {
	return quote(str_of(secret_mask_word(arena, word)));
}
