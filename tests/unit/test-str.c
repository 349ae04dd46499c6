// SPDX-License-Identifier: Apache-2.0

#include "base/str.h"

#include "check.h"
#include "fixture.h"

static struct arena arena;

static void check_find(struct str text, char c, size_t want) {
	checkf(str_find(text, c) == want, "find '%c' in '%.*s'", c, (int)text.len, text.p ? text.p : "");
}

static void check_trim(const char *text, const char *want) {
	struct str got = str_trim(str_of(text));
	check_text(arena_text(&arena, got.p, got.len), want, "trim '%s'", text);
}

/** All pieces of @text, each in "<>". */
static void check_cut(const char *text, const char *want) {
	struct str rest = str_of(text), piece;
	struct buf got = BUF(&arena);
	while (str_cut(&rest, ',', &piece)) {
		buf_putc(&got, '<');
		buf_put(&got, piece);
		buf_putc(&got, '>');
	}
	check_text(buf_text(&got), want, "cut '%s'", text ? text : "(NULL)");
	checkf(!str_cut(&rest, ',', &piece), "cut '%s': once ended, it stays so", text ? text : "(NULL)");
}

static void check_eq(const char *a, const char *b, bool want) {
	checkf(str_eq(str_of(a), str_of(b)) == want && str_eq(str_of(b), str_of(a)) == want,
	       "'%s' and '%s' are%s equal", a, b, want ? "" : " not");
}

int main(void) {
	arena = fixture_arena();

	check_find(STR("abcb"), 'b', 1);
	check_find(STR("abc"), 'x', 3);
	check_find(STR(""), 'x', 0);
	check_find((struct str){NULL, 0}, 'x', 0);
	check_find((struct str){"abc", 2}, 'c', 2); // not beyond the slice
	check_find(STR("a\0b"), '\0', 1);
	check_find(STR("a\xff"), '\xff', 1);

	check_trim("", "");
	check_trim(" \t\r ", "");
	check_trim("a", "a");
	check_trim("\t a b \r", "a b");
	check_trim("\na\n", "\na\n"); // a line break is no blank

	check_cut("", "<>");
	check_cut("a", "<a>");
	check_cut("a,b", "<a><b>");
	check_cut("a,,b", "<a><><b>");
	check_cut(",", "<><>");
	check_cut("a,", "<a><>");
	check_cut(",a", "<><a>");
	check_cut(NULL, "");

	check_eq("", "", true);
	check_eq("a", "a", true);
	check_eq("a", "b", false);
	check_eq("a", "ab", false);
	check(str_eq((struct str){NULL, 0}, STR("")));
	check(!str_eq(STR("a\0b"), STR("a\0c")));
	check(str_is((struct str){"abc", 2}, "ab"));
	check(!str_is(STR("ab"), "abc"));
	check(str_is((struct str){NULL, 0}, ""));
	check(str_starts(STR("abc"), STR("ab")));
	check(str_starts(STR("ab"), STR("ab")));
	check(str_starts(STR("ab"), STR("")));
	check(str_starts(STR("a"), (struct str){NULL, 0}));
	check(!str_starts(STR("a"), STR("ab")));
	check(!str_starts(STR("xab"), STR("ab")));
	check(str_eq(str_from(STR("abc"), 1), STR("bc")));
	check(str_from(STR("abc"), 3).len == 0);
	check(str_of(NULL).len == 0);

	const char *const patterns[] = {"PET_*", "RANK", NULL};
	check(str_like_any(STR("PET_X"), patterns));
	check(str_like_any(STR("RANK"), patterns));
	check(!str_like_any(STR("RANKS"), patterns));
	check(!str_like_any(STR("X"), &patterns[2]));

	arena_done(&arena);
	return check_done();
}
