// SPDX-License-Identifier: Apache-2.0

#include "base/json_read.h"

#include <cjson/cJSON.h>
#include <errno.h>

/** The deepest nesting of brackets outside strings. */
static unsigned depth_of(const char *text) {
	unsigned depth = 0, deepest = 0;
	bool quoted = false;
	for (; *text; text++) {
		if (quoted && *text == '\\' && text[1]) {
			text++;
		} else if (*text == '"') {
			quoted = !quoted;
		} else if (!quoted && (*text == '[' || *text == '{')) {
			depth++;
			deepest = depth > deepest ? depth : deepest;
		} else if (!quoted && (*text == ']' || *text == '}')) {
			depth -= depth > 0;
		}
	}
	return deepest;
}

int json_read(const char *what, const char *text, struct cJSON **out, struct err *err) {
	// cJSON allows 1,000 levels and recurses for each. A third of that overflows a small stack.
	if (depth_of(text) > JSON_DEPTH) {
		return err_set(err, EINVAL, "%s=%s is nested more than %d deep", what, quote_text(text).s,
			       JSON_DEPTH);
	}
	const char *end = text;
	cJSON *json = cJSON_ParseWithOpts(text, &end, 1);
	if (!json) {
		unsigned line = 1, column = 1;
		for (const char *p = text; p < end; p++) {
			column = *p == '\n' ? 1 : column + 1;
			line += *p == '\n';
		}
		return err_set(err, EINVAL, "%s=%s is not JSON (line %u, column %u)", what,
			       quote_text(text).s, line, column);
	}
	*out = json;
	return 0;
}
