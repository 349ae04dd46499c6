// SPDX-License-Identifier: Apache-2.0

/** JSON from outside, all of whose strings are written again; and the same bytes as a string. */

#include "base/json_read.h"
#include "base/json_write.h"

#include "fuzz.h"

#include <cjson/cJSON.h>

#define INPUT_MAX 8192

/** The output is UTF-8. If the input was UTF-8, reading the output gives it back. */
static void check_string(struct arena *arena, struct str text) {
	struct buf out = BUF(arena);
	json_string(&(struct json){.out = &out}, NULL, text);
	HOLDS(utf8_valid(buf_str(&out)));
	HOLDS(out.len >= text.len + 2 && out.p[0] == '"' && out.p[out.len - 1] == '"');
	for (size_t i = 0; i < out.len; i++) {
		HOLDS((unsigned char)out.p[i] >= ' ' && out.p[i] != 0x7f);
	}
	// cJSON ends a string at its first NUL.
	if (str_find(text, '\0') == text.len) {
		struct cJSON *json = NULL;
		struct err err;
		HOLDS(json_read("STRING", buf_text(&out), &json, &err) == 0);
		const char *again = cJSON_GetStringValue(json);
		HOLDS(again && (!utf8_valid(text) || str_is(text, again)));
		cJSON_Delete(json);
	}
}

static void walk(struct arena *arena, const struct cJSON *json, unsigned depth) {
	HOLDS(depth <= JSON_DEPTH);
	for (; json; json = json->next) {
		if (json->string) {
			check_string(arena, str_of(json->string));
		}
		if (cJSON_IsString(json)) {
			check_string(arena, str_of(json->valuestring));
		}
		if (json->child) {
			walk(arena, json->child, depth + 1);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (size > INPUT_MAX) {
		return 0;
	}
	struct arena arena = fuzz_arena();
	struct str text = {(const char *)data, size};
	check_string(&arena, text);

	struct cJSON *json = NULL;
	struct err err = {""};
	int r = json_read("INPUT", arena_text(&arena, text.p, size), &json, &err);
	HOLDS((r == 0) == (json != NULL) && (r == 0) == (err.text[0] == '\0'));
	walk(&arena, json, 0);
	cJSON_Delete(json);
	arena_done(&arena);
	return 0;
}
