// SPDX-License-Identifier: Apache-2.0

/** Sentences about failures, quoted texts in them, and notes. */

#include "base/err.h"

#include "check.h"
#include "fixture.h"

#include <errno.h>

static void check_quote(struct str text, const char *want) {
	struct quoted got = quote(text);
	check_text(got.s, want, "quote to %s", want);
}

static void check_plain(struct arena *arena, struct str text, const char *want) {
	struct buf buf = BUF(arena);
	buf_put_plain(&buf, text);
	check_text(buf_text(&buf), want, "plain %s", want);
}

/**
 * However often @c is repeated, the result fits, has its closing quote, and shows that it was cut.
 */
static void check_long(char c, size_t n) {
	char text[1000];
	memset(text, c, n);
	struct quoted got = quote((struct str){text, n});
	size_t len = strnlen(got.s, sizeof(got.s));
	bool printable = len > 4 && len < sizeof(got.s);
	for (size_t i = 0; i < len; i++) {
		printable = printable && got.s[i] >= ' ' && got.s[i] <= '~';
	}
	checkf(printable && strcmp(got.s + len - 4, "...'") == 0, "quote %zu of \\x%02x: %s", n,
	       (unsigned char)c, got.s);
}

static void check_err(void) {
	struct err err;
	check(err_set(&err, EINVAL, "%s=%d", "A", 1) == -EINVAL);
	check_text(err.text, "A=1", "err_set formats");
	check(err_set(&err, E2BIG, "%01999d", 0) == -E2BIG);
	check(strlen(err.text) == sizeof(err.text) - 1);
}

static void check_notes(struct arena *arena) {
	struct notes notes = {.arena = arena};
	check_text(fixture_notes(&notes), "", "no note");
	notes_add(&notes, "%s", "one");
	check(notes.first == notes.last);
	notes_add(&notes, "%s is %d", "two", 2);
	notes_add(&notes, "three");
	check_text(fixture_notes(&notes), "one; two is 2; three", "notes keep their order");
	check(notes.last->next == NULL);
}

int main(void) {
	struct arena arena = fixture_arena();

	check_quote(STR(""), "''");
	check_quote((struct str){NULL, 0}, "''");
	check_quote(STR("plain text ~"), "'plain text ~'");
	check_quote(STR("a\nb\t\r"), "'a\\x0ab\\x09\\x0d'");
	check_quote(STR("\x1b[31m"), "'\\x1b[31m'"); // would colour the terminal
	check_quote(STR("\x7f"), "'\\x7f'");
	check_quote(STR("\xff\x80"), "'\\xff\\x80'");
	check_quote(STR("a\0b"), "'a\\x00b'");
	check_quote((struct str){"abc", 2}, "'ab'");
	check_long('a', 120);
	check_long('a', 1000);
	check_long('\n', 30);
	check_long('\xff', 1000);
	// Every length around the limit: the closing quote is always there.
	for (size_t n = 105; n < 125; n++) {
		char text[125];
		memset(text, 'a', sizeof(text));
		struct quoted got = quote((struct str){text, n});
		size_t len = strnlen(got.s, sizeof(got.s));
		checkf(len < sizeof(got.s) && got.s[len - 1] == '\'' &&
			       (len == n + 2 || strcmp(got.s + len - 4, "...'") == 0),
		       "quote %zu bytes", n);
	}

	check_plain(&arena, STR(""), "");
	check_plain(&arena, STR("plain 'text' ~"), "plain 'text' ~");
	check_plain(&arena, STR("a\nb\x1b[m\x7f\xc2\x9b"), "a\\x0ab\\x1b[m\\x7f\\xc2\\x9b");
	check_plain(&arena, STR("\\x0a"), "\\x0a"); // made so before

	check_err();
	check_notes(&arena);
	arena_done(&arena);
	return check_done();
}
