// SPDX-License-Identifier: Apache-2.0

#include "base/str.h"

#include <ctype.h>
#include <strings.h>

struct str str_of(const char *text) {
	return (struct str){text, text ? strlen(text) : 0};
}

bool str_eq(struct str a, struct str b) {
	// NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): p is set where len is not 0
	return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

bool str_is(struct str a, const char *text) {
	return str_eq(a, str_of(text));
}

bool str_starts(struct str a, struct str prefix) {
	return a.len >= prefix.len && (prefix.len == 0 || memcmp(a.p, prefix.p, prefix.len) == 0);
}

size_t str_find(struct str a, char c) {
	const char *at = a.len ? memchr(a.p, c, a.len) : NULL;
	return at ? (size_t)(at - a.p) : a.len;
}

static bool is_blank(char c) {
	return c == ' ' || c == '\t' || c == '\r';
}

struct str str_trim(struct str a) {
	while (a.len && is_blank(a.p[0])) {
		a = str_from(a, 1);
	}
	while (a.len && is_blank(a.p[a.len - 1])) {
		a.len--;
	}
	return a;
}

bool str_cut(struct str *rest, char separator, struct str *piece) {
	if (!rest->p) {
		return false;
	}
	size_t end = str_find(*rest, separator);
	*piece = (struct str){rest->p, end};
	*rest = end < rest->len ? str_from(*rest, end + 1) : (struct str){0};
	return true;
}

bool str_word(struct str *rest, struct str *word) {
	*rest = str_trim(*rest);
	*word = (struct str){rest->p, 0};
	while (word->len < rest->len && !is_blank(rest->p[word->len])) {
		word->len++;
	}
	*rest = str_from(*rest, word->len);
	return word->len > 0;
}

size_t plain_put(char *at, char c) {
	static const char hex[] = "0123456789abcdef";
	unsigned char byte = (unsigned char)c;
	at[0] = c;
	if (byte >= 0x20 && byte < 0x7f) {
		return 1;
	}
	memcpy(at, (char[]){'\\', 'x', hex[byte >> 4], hex[byte & 15]}, PLAIN_MAX);
	return PLAIN_MAX;
}

bool str_like(struct str text, struct str pattern) {
	while (pattern.len && pattern.p[0] != '*') {
		if (text.len == 0 || text.p[0] != pattern.p[0]) {
			return false;
		}
		text = str_from(text, 1);
		pattern = str_from(pattern, 1);
	}
	if (pattern.len == 0) {
		return text.len == 0;
	}
	pattern = str_from(pattern, 1);
	while (!str_like(text, pattern)) {
		if (text.len == 0) {
			return false;
		}
		text = str_from(text, 1);
	}
	return true;
}

bool str_like_any(struct str text, const char *const *patterns) {
	while (*patterns && !str_like(text, str_of(*patterns))) {
		patterns++;
	}
	return *patterns;
}

bool str_has_word(struct str text, struct str word) {
	size_t len;
	for (; text.len; text = str_from(text, len + (len < text.len))) {
		for (len = 0; len < text.len && isalpha((unsigned char)text.p[len]); len++) {
		}
		if (len == word.len && strncasecmp(text.p, word.p, len) == 0) {
			return true;
		}
	}
	return false;
}
