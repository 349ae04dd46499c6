// SPDX-License-Identifier: Apache-2.0

#include "base/nearest.h"

#include "check.h"

/** Check that @want is the nearest of @candidates to @word; NULL: none is near enough. */
static void check_nearest(const char *word, const char *want, const char *const *candidates) {
	struct nearest best = {.word = str_of(word)};
	for (; *candidates; candidates++) {
		nearest_try(&best, *candidates);
	}
	check_text(best.found, want, "'%s'", word);
}

#define CHECK(word, want, ...) check_nearest(word, want, (const char *const[]){__VA_ARGS__, NULL})

#define VERBS	"set", "add", "unset", "prepend", "append", "first", "clean", "pass"
#define LONG_48 "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuv"

int main(void) {
	CHECK("prepnd", "prepend", VERBS);
	CHECK("apend", "append", VERBS);
	CHECK("unest", "unset", VERBS);
	CHECK("setx", "set", VERBS);
	CHECK("sett", "set", VERBS);
	CHECK("esc", NULL, VERBS);
	CHECK("export", NULL, VERBS);
	CHECK("something", NULL, VERBS);
	CHECK("clean", "clean", VERBS); // itself
	CHECK("master-prot", "master-port", "master-addr", "master-port");
	CHECK("MASTER-PORT", NULL, "master-addr", "master-port"); // case counts

	// Swapping two neighbours is one edit, not two.
	CHECK("abc", "acb", "acb");
	CHECK("abc", NULL, "cab");
	// A third of the letters, of the longer word.
	CHECK("ab", NULL, "ac");
	CHECK("abc", "abd", "abd");
	CHECK("abcde", NULL, "abcxy");
	CHECK("abcdef", "abcdxy", "abcdxy");
	CHECK("abcdef", NULL, "abcxyz");
	// Inserted and left out.
	CHECK("abcdef", "abcdefxy", "abcdefxy");
	CHECK("abcdef", "abcd", "abcd");
	CHECK("ab", "abc", "abc");
	// The first of two that are equally near.
	CHECK("abcx", "abca", "abca", "abcb");
	CHECK("abcx", "abcx", "abca", "abcx");

	// The end of a name, as near as an edit.
	CHECK("port", "master-port", "report", "master-port");
	CHECK("RANK", "NODE_RANK", "NODE_RANK", "RANKS");
	CHECK("rank", "ranks", "ranks", "node-rank");
	CHECK("ort", NULL, "master-port");
	CHECK("on", NULL, "a-on");

	// Up to 48 letters are compared.
	CHECK(LONG_48, LONG_48, LONG_48);
	CHECK("x" LONG_48, NULL, LONG_48);
	CHECK(LONG_48, NULL, "x" LONG_48);
	CHECK("", NULL, "set");
	return check_done();
}
