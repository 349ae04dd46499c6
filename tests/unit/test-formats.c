// SPDX-License-Identifier: Apache-2.0

#include "format/format.h"

#include "check.h"
#include "fixture.h"

static struct arena arena;

/** Check that @name and @value are written as @want. */
static void check_put(const char *format, const char *name, const char *value, const char *want) {
	const struct format *f = format_find(format);
	struct buf out = BUF(&arena);
	if (checkf(f && !f->refuses(str_of(name), str_of(value)), "%s carries %s=%s", format, name, value)) {
		f->put(&out, str_of(name), str_of(value), 0);
		// The NUL of "null" is shown as a line's end.
		for (size_t i = 0; i < out.len; i++) {
			out.p[i] = out.p[i] ? out.p[i] : '\n';
		}
		check_text(buf_text(&out), want, "%s of %s=%s", format, name, value);
	}
}

static void check_refused(const char *format, const char *name, const char *value, const char *want) {
	const struct format *f = format_find(format);
	const char *why = f ? f->refuses(str_of(name), str_of(value)) : NULL;
	check_text(why, want, "%s refuses %s=%s", format, name, value);
}

/** Two variables, with head and tail. */
static void check_whole(const char *format, const char *want) {
	const struct format *f = format_find(format);
	struct buf out = BUF(&arena);
	buf_puts(&out, f->head);
	f->put(&out, STR("A"), STR("1"), 0);
	f->put(&out, STR("B"), STR("x y"), 1);
	buf_puts(&out, f->tail);
	checkf(str_eq(buf_str(&out), str_of(want)) || format[0] == 'n', "%s as a whole", format);
	if (format[0] == 'n') {
		check(str_eq(buf_str(&out), STR("A=1\0B=x y\0")));
	}
}

#define NO_NAME	   "in a shell, a name consists of letters, digits and '_', and does not begin with a digit"
#define NO_EMPTY   "in a shell, a name is not empty"
#define NO_QUOTE   "a value in single quotes cannot hold a single quote"
#define NO_BREAK   "a value in this format cannot contain a line break"
#define NO_BLANK   "docker refuses a name with a blank"
#define NO_COMMENT "docker would read the line as a comment"
#define NO_UTF8	   "JSON can hold UTF-8 only"

int main(void) {
	arena = fixture_arena();

	check(format_find("shell") == formats);
	check(strcmp(format_find("json")->name, "json") == 0);
	check(!format_find("SHELL") && !format_find("") && !format_find("jso"));

	check_put("shell", "A", "1", "A='1'\n");
	check_put("shell", "_a9Z", "", "_a9Z=''\n");
	check_put("shell", "A", "a b\nc \"$x` \\ \xff=", "A='a b\nc \"$x` \\ \xff='\n");
	check_refused("shell", "A", "it's", NO_QUOTE);
	check_refused("shell", "A", "'", NO_QUOTE);
	check_refused("shell", "9A", "1", NO_NAME);
	check_refused("shell", "A.B", "1", NO_NAME);
	check_refused("shell", "A B", "1", NO_NAME);
	check_refused("shell", "A-B", "1", NO_NAME);
	check_refused("shell", "\xc3\xa4", "1", NO_NAME);
	check_refused("shell", "@[`{", "1", NO_NAME); // the neighbours of the letters
	check_refused("shell", "A/", "1", NO_NAME);
	check_refused("shell", "A:", "1", NO_NAME);
	check_refused("shell", "", "1", NO_EMPTY);

	check_put("docker", "A", "1", "A=1\n");
	check_put("docker", "A.B-C", "a b 'c' \"d\" # e ", "A.B-C=a b 'c' \"d\" # e \n");
	check_put("docker", "A", "", "A=\n");
	check_put("docker", "A#", "1", "A#=1\n");
	check_refused("docker", "A", "a\nb", NO_BREAK);
	check_refused("docker", "A", "a\r", NO_BREAK);
	check_refused("docker", "#A", "1", NO_COMMENT);
	check_refused("docker", "", "1", NO_COMMENT);
	check_refused("docker", "A B", "1", NO_BLANK);
	check_refused("docker", "A\t", "1", NO_BLANK);

	check_put("json", "A", "1", "\n  \"A\": \"1\"");
	check_put("json", "A \"B\"", "a\nb\x01", "\n  \"A \\\"B\\\"\": \"a\\nb\\u0001\"");
	check_put("json", "", "\xc3\xa4", "\n  \"\": \"\xc3\xa4\"");
	check_refused("json", "A", "\xff", NO_UTF8);
	check_refused("json", "\xff", "1", NO_UTF8);

	check_put("null", "A", "1", "A=1\n");
	check_put("null", "A B", "'a'\nb\xff", "A B='a'\nb\xff\n");
	check_put("null", "", "", "=\n");

	check_whole("shell", "A='1'\nB='x y'\n");
	check_whole("docker", "A=1\nB=x y\n");
	check_whole("json", "{\n  \"A\": \"1\",\n  \"B\": \"x y\"\n}\n");
	check_whole("null", "");

	for (const struct format *f = formats; f->name; f++) {
		checkf(format_find(f->name) == f, "format %s is found by its name", f->name);
	}

	arena_done(&arena);
	return check_done();
}
