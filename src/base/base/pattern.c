// SPDX-License-Identifier: Apache-2.0

#include "base/pattern.h"

#include <errno.h>

int pattern_read(struct arena *arena, const char *label, struct str text, const char *example,
		 struct pattern *out, struct err *err) {
	const char *whole = arena_text(arena, text.p, text.len), *slash = strrchr(whole, '/');
	size_t len = slash ? (size_t)(slash - whole) : 0;
	if (!slash || whole[0] != '/' || !slash[1] || strpbrk(whole, "?[") || str_find(text, '*') < len) {
		return err_set(
			err, EINVAL,
			"%s=%s: expected an absolute path, in whose last part '*' stands for any text, "
			"such as %s; there is no other wildcard",
			label, quote(text).s, example);
	}
	*out = (struct pattern){.text = whole,
				.folder = len ? arena_text(arena, whole, len) : "/",
				.name = str_of(slash + 1)};
	return 0;
}

bool pattern_matches(const struct pattern *pattern, const char *name) {
	return strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
	       (name[0] != '.' || pattern->name.p[0] == '.') && str_like(str_of(name), pattern->name);
}
