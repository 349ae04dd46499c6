// SPDX-License-Identifier: Apache-2.0

/** JSON, read and written, and the UTF-8 in it. */

#include "base/json_read.h"
#include "base/json_write.h"

#include "check.h"
#include "fixture.h"

#include <cjson/cJSON.h>
#include <errno.h>

static struct arena arena;

/** @text is JSON, and cJSON writes it as @want. */
static void check_read(const char *text, const char *want) {
	struct cJSON *json = NULL;
	struct err err = {""};
	int r = json_read("J", text, &json, &err);
	if (!checkf(r == 0 && json, "read %.60s: %d %s", text, r, err.text)) {
		return;
	}
	char *got = cJSON_PrintUnformatted(json);
	check_text(got, want, "read %.60s", text);
	cJSON_free(got);
	cJSON_Delete(json);
}

/** cJSON before 1.7.19 takes 63 characters of a number, and the rest for something else (CVE-2023-26819). */
static void check_long_number(void) {
	static const char text[] = "1000000000000000000000000000000000000000000000000000000000000000000";
	struct cJSON *json = NULL;
	struct err err = {""};
	int r = json_read("J", text, &json, &err);
	if (r < 0 && strverscmp(cJSON_Version(), "1.7.19") < 0) {
		printf("# The system's cJSON %s does not take a number of 67 digits: %s\n", cJSON_Version(),
		       err.text);
		return;
	}
	checkf(r == 0 && cJSON_IsNumber(json) && json->valuedouble > 9e65, "a number of 67 digits: %d %s", r,
	       err.text);
	cJSON_Delete(json);
}

static void check_wrong(const char *text, const char *want) {
	struct cJSON *json = NULL;
	struct err err = {"no error"};
	int r = json_read("J", text, &json, &err);
	checkf(r == -EINVAL && !json, "wrong %.60s: %d", text, r);
	check_part(err.text, want, "wrong %.60s says", text);
	check_part(err.text, "J='", "wrong %.60s says where", text);
}

static void check_utf8(struct str text, bool want) {
	checkf(utf8_valid(text) == want, "%s is%s UTF-8", quote(text).s, want ? "" : " no");
}

/** @text is written as @want, which is UTF-8 and, where it has no NUL, read back as @back. */
static void check_put(struct str text, const char *want, const char *back) {
	struct buf buf = BUF(&arena);
	json_string(&(struct json){.out = &buf}, NULL, text);
	check_text(buf_text(&buf), want, "put %s", quote(text).s);
	check(utf8_valid(buf_str(&buf)));
	if (back) {
		struct cJSON *json = NULL;
		struct err err;
		check(json_read("J", buf_text(&buf), &json, &err) == 0);
		check_text(cJSON_GetStringValue(json), back, "put %s, then read", quote(text).s);
		cJSON_Delete(json);
	}
}

/** Where commas and lines go. */
static void check_object(void) {
	struct buf buf = BUF(&arena);
	struct json json = {.out = &buf};
	json_open(&json, NULL, '{');
	json_text(&json, "a\"", NULL);
	json_open(&json, "b", '[');
	json_close(&json, ']');
	json_line(&json, 1);
	json_open(&json, "c", '[');
	json_text(&json, NULL, "x");
	json_number(&json, NULL, UINT32_MAX);
	json_line(&json, 2);
	json_open(&json, NULL, '{');
	json_fact(&json, "d", -1);
	json_close(&json, '}');
	buf_puts(json_value(&json, NULL), "1.5");
	json_line(&json, 1);
	json_close(&json, ']');
	json_fact(&json, "e", 0);
	json_line(&json, 0);
	json_close(&json, '}');
	check_text(buf_text(&buf),
		   "{\"a\\\"\": null, \"b\": [],\n  \"c\": [\"x\", null,\n    {\"d\": null}, 1.5\n  ], "
		   "\"e\": false\n}",
		   "an object");
}

/** @n times @bracket. */
static const char *nested(char open, char close, unsigned n) {
	struct buf buf = BUF(&arena);
	for (unsigned i = 0; i < n; i++) {
		buf_putc(&buf, open);
	}
	for (unsigned i = 0; i < n; i++) {
		buf_putc(&buf, close);
	}
	return buf_text(&buf);
}

static void check_depth(void) {
	check_read(nested('[', ']', JSON_DEPTH), nested('[', ']', JSON_DEPTH));
	check_wrong(nested('[', ']', JSON_DEPTH + 1), "is nested more than 32 deep");
	check_wrong(nested('{', '}', JSON_DEPTH + 1), "is nested more than 32 deep");
	// Other bytes are no brackets, and brackets in strings are none either.
	struct buf keys = BUF(&arena);
	for (unsigned i = 0; i <= JSON_DEPTH; i++) {
		buf_puts(&keys, "{\"]}\": [1, ");
	}
	check_wrong(buf_text(&keys), "is nested more than 32 deep");
	check_read("[\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"]",
		   "[\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"]");
	check_wrong(nested('[', ']', 100000), "is nested more than 32 deep");
	// Brackets in strings are none, and those that are closed count no more.
	const char *text = arena_format(&arena, "[\"%s\"]", nested('[', '[', 30));
	check_read(text, text);
	text = arena_format(&arena, "[\"\\\"%s\"]", nested('{', '{', 30));
	check_read(text, text);
	struct buf buf = BUF(&arena);
	buf_puts(&buf, "[0");
	for (unsigned i = 0; i < 100; i++) {
		buf_puts(&buf, ",[]");
	}
	buf_puts(&buf, "]");
	check_read(buf_text(&buf), buf.p);
}

/** Every sequence of two, three and four of the interesting bytes, compared with the definition. */
static bool is_utf8_by_definition(const unsigned char *p, size_t n) {
	for (size_t i = 0; i < n;) {
		size_t len = p[i] < 0x80   ? 1
			     : p[i] < 0xc0 ? 0
			     : p[i] < 0xe0 ? 2
			     : p[i] < 0xf0 ? 3
			     : p[i] < 0xf8 ? 4
					   : 0;
		if (len == 0 || i + len > n) {
			return false;
		}
		static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
		static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
		uint32_t c = p[i] & masks[len];
		for (size_t k = 1; k < len; k++) {
			if (p[i + k] < 0x80 || p[i + k] > 0xbf) {
				return false;
			}
			c = c << 6 | (p[i + k] & 0x3fu);
		}
		if (c < least[len] || (c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff) {
			return false;
		}
		i += len;
	}
	return true;
}

static void check_all_sequences(void) {
	static const unsigned char bytes[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0,
					      0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0,
					      0xf1, 0xf3, 0xf4, 0xf5, 0xf7, 0xf8, 0xfc, 0xfe, 0xff};
	const unsigned n = sizeof(bytes);
	unsigned wrong = 0, valid = 0;
	for (unsigned i = 0; i < n * n * n * n; i++) {
		const unsigned char p[4] = {bytes[i % n], bytes[i / n % n], bytes[i / n / n % n],
					    bytes[i / n / n / n]};
		for (size_t len = 1; len <= 4; len++) {
			bool want = is_utf8_by_definition(p, len);
			valid += want;
			wrong += utf8_valid((struct str){(const char *)p, len}) != want;
		}
	}
	checkf(wrong == 0 && valid > 1000, "of %u sequences, %u are UTF-8; %u are judged wrongly",
	       n * n * n * n, valid, wrong);
}

int main(void) {
	arena = fixture_arena();

	check_read("{}", "{}");
	check_read(" [1, 2]\n", "[1,2]");
	check_read("null", "null");
	check_read("\"a\\u00e4\\n\"", "\"a\xc3\xa4\\n\"");
	check_read("{\"cluster\":{\"worker\":[\"a:1\",\"b:2\"]},\"task\":{\"type\":\"worker\",\"index\":1}}",
		   "{\"cluster\":{\"worker\":[\"a:1\",\"b:2\"]},\"task\":{\"type\":\"worker\",\"index\":1}}");
	check_read("{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2}");

	check_wrong("", "is not JSON (line 1, column 1)");
	check_wrong("{", "is not JSON (line 1, column 2)");
	check_wrong("[1,]", "is not JSON (line 1, column 4)");
	check_wrong("{\"a\" 1}", "is not JSON (line 1, column ");
	check_wrong("{'a': 1}", "is not JSON (line 1, column ");
	check_wrong("{\n \"a\": x}", "is not JSON (line 2, column 7)");
	check_wrong("[1] 2", "is not JSON (line 1, column 5)"); // all of it is to be one value
	check_wrong("{} {}", "is not JSON (line 1, column 4)");
	check_wrong("\"open", "is not JSON");
	check_wrong("\"\\", "is not JSON");
	check_wrong("\"\\x\"", "is not JSON");
	check_wrong("\"\\ud800\"", "is not JSON");
	check_wrong("tru", "is not JSON");
	check_wrong("-", "is not JSON");
	check_long_number();
	check_depth();

	check_utf8(STR(""), true);
	check_utf8((struct str){NULL, 0}, true);
	check_utf8(STR("a\0b"), true);
	check_utf8(STR("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"), true);
	check_utf8(STR("\xef\xbf\xbf\xf4\x8f\xbf\xbf"), true);
	check_utf8(STR("\xff"), false);
	check_utf8(STR("\x80"), false);
	check_utf8(STR("a\xc3"), false);
	check_utf8((struct str){"\xc3\xa4", 1}, false); // cut in the middle
	check_utf8((struct str){"\xf0\x9f\x98\x80", 3}, false);
	check_utf8(STR("\xc0\xaf"), false);	    // an overlong '/'
	check_utf8(STR("\xe0\x9f\xbf"), false);	    // overlong
	check_utf8(STR("\xf0\x8f\xbf\xbf"), false); // overlong
	check_utf8(STR("\xed\xa0\x80"), false);	    // half of a pair
	check_utf8(STR("\xf4\x90\x80\x80"), false); // beyond the last
	check_utf8(STR("\xf8\x88\x80\x80\x80"), false);
	check_all_sequences();

	check_put(STR(""), "\"\"", "");
	check_put((struct str){NULL, 0}, "\"\"", "");
	check_put(STR("plain /"), "\"plain /\"", "plain /");
	check_put(STR("\"\\"), "\"\\\"\\\\\"", "\"\\");
	check_put(STR("\n\r\t"), "\"\\n\\r\\t\"", "\n\r\t");
	check_put(STR("\x01\x1f\x7f\b"), "\"\\u0001\\u001f\\u007f\\u0008\"", "\x01\x1f\x7f\b");
	check_put(STR("\xc2\x9b\xc2\x80\xc2\xa0"), "\"\\u009b\\u0080\xc2\xa0\"", "\xc2\x9b\xc2\x80\xc2\xa0");
	check_put(STR("a\0b"), "\"a\\u0000b\"", NULL);
	check_put(STR("\xc3\xa4\xf0\x9f\x98\x80"), "\"\xc3\xa4\xf0\x9f\x98\x80\"",
		  "\xc3\xa4\xf0\x9f\x98\x80");
	check_put(STR("a\xff"
		      "b"),
		  "\"a\xef\xbf\xbd"
		  "b\"",
		  "a\xef\xbf\xbd"
		  "b");
	check_put(STR("\xe2\x82"), "\"\xef\xbf\xbd\xef\xbf\xbd\"",
		  "\xef\xbf\xbd\xef\xbf\xbd"); // a byte at a time
	check_put((struct str){"abc", 2}, "\"ab\"", "ab");

	check_object();

	arena_done(&arena);
	return check_done();
}
