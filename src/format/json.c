// SPDX-License-Identifier: Apache-2.0

/** One JSON object, with a string for each variable. */

#include "base/json_write.h"
#include "format/format.h"

static const char *json_refuses(struct str name, struct str value) {
	return utf8_valid(name) && utf8_valid(value) ? NULL : "JSON can hold UTF-8 only";
}

static void json_put(struct buf *out, struct str name, struct str value, uint32_t n) {
	buf_puts(out, n ? ",\n  " : "\n  ");
	json_put_string(out, name);
	buf_puts(out, ": ");
	json_put_string(out, value);
}

const struct format format_json = {
	.name = "json",
	.about = "one JSON object, for programs",
	.refuses = json_refuses,
	.put = json_put,
	.head = "{",
	.tail = "\n}\n",
};
