// SPDX-License-Identifier: Apache-2.0

/** One JSON object, with a string for each variable. */

#include "base/json_write.h"
#include "format/format.h"

static const char *json_refuses(struct str name, struct str value) {
	return utf8_valid(name) && utf8_valid(value) ? NULL : "JSON can hold UTF-8 only";
}

static void json_put(struct buf *out, struct str name, struct str value, uint32_t n) {
	struct json json = {.out = out, .more = n > 0};
	json_line(&json, 1);
	json_string(&json, arena_text(out->arena, name.p, name.len), value);
}

const struct format format_json = {
	.name = "json",
	.about = "one JSON object, for programs",
	.refuses = json_refuses,
	.put = json_put,
	.head = "{",
	.tail = "\n}\n",
};
