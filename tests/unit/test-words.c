// SPDX-License-Identifier: Apache-2.0

#include "base/words.h"

#include "check.h"
#include "fixture.h"

#include <errno.h>

static struct arena arena;

/** Split @text and join what came by '|', with '~' for an empty word; or the message. */
static void check_split(const char *text, const char *want) {
	struct words words = WORDS(&arena);
	struct err err = {""};
	int r = words_split(&words, "SRUN_ARGS", str_of(text), &err);
	struct buf got = BUF(&arena);
	for (char **word = words_vector(&words); r == 0 && *word; word++) {
		buf_putf(&got, "%s%s", word == words.at ? "" : "|", **word ? *word : "~");
	}
	check_text(r < 0 ? err.text : buf_text(&got), want, "split <%s>", text);
	checkf(r == 0 || r == -EINVAL, "split <%s> returns %d", text, r);
}

static void test_split(void) {
	check_split("", "");
	check_split(" \t\n ", "");
	check_split("--mpi=pmix", "--mpi=pmix");
	check_split("  --mem=0\t--mpi=pmix\n", "--mem=0|--mpi=pmix");
	check_split("--comment='a  b' c", "--comment=a  b|c");
	check_split("\"a b\"'c d'e", "a bc de");
	check_split("'' \"\"", "~|~");
	check_split("a\\ b \\$c \\\\", "a b|$c|\\");
	check_split("'$x `y`; *'", "$x `y`; *");
	check_split("\"a\\\"b\\\\c\\d\"", "a\"b\\c\\d");
	check_split("--gres=gpu:2,x@y%z", "--gres=gpu:2,x@y%z");
	check_split("'a", "SRUN_ARGS=''a': the closing ' is missing");
	check_split("\"a\\\"", "SRUN_ARGS='\"a\\\"': the closing \" is missing");
	static const char *const refused[] = {"$HOME", "a`b`", "a;b", "a|b", "a&b",	  "a>b",
					      "a<b",   "*",    "a?",  "(a)", "\"$HOME\"", "a\\"};
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct words words = WORDS(&arena);
		struct err err = {""};
		checkf(words_split(&words, "X", str_of(refused[i]), &err) == -EINVAL, "refuse <%s>",
		       refused[i]);
		check_part(err.text, "no shell reads this; use single quotes", "why <%s> is refused",
			   refused[i]);
	}
}

static void check_put(const char *word, const char *want) {
	struct buf out = BUF(&arena);
	word_put(&out, word);
	check_text(buf_text(&out), want, "show <%s>", word);
}

static void test_put(void) {
	check_put("--nodes=1", "--nodes=1");
	check_put("/a/b_c-d.e:f,g+h@i%j", "/a/b_c-d.e:f,g+h@i%j");
	check_put("", "''");
	check_put("a b", "'a b'");
	check_put("it's", "'it'\\''s'");
	check_put("$(x)", "'$(x)'");
	check_put("a\nb", "'a\nb'");
	check_put("\xc3\xa4", "'\xc3\xa4'");

	struct words words = WORDS(&arena);
	for (int i = 0; i < 40; i++) {
		words_addf(&words, "%d", i);
	}
	char more[] = "x y", *const list[] = {more, NULL};
	words_add_all(&words, list);
	words_add_all(&words, NULL);
	words_add(&words, "z");
	checkf(words.n == 42, "number of words: %u", words.n);
	struct buf out = BUF(&arena);
	words_put(&out, words_vector(&words) + 38);
	check_text(buf_text(&out), "38 39 'x y' z", "the last words");
	// A program name that a shell would read as an assignment.
	char program[] = "A=b", *const command[] = {program, program, NULL};
	out.len = 0;
	words_put(&out, command);
	check_text(buf_text(&out), "'A=b' A=b", "a program called A=b");
}

/** The printed words are split into the same words again. */
static void test_round_trip(void) {
	static const char *const texts[] = {"plain", "", "a b", "it's \"q\"", "$HOME;`x`|&", "\t\n", "\\"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct buf shown = BUF(&arena);
		struct words words = WORDS(&arena);
		struct err err = {""};
		word_put(&shown, texts[i]);
		int r = words_split(&words, "X", buf_str(&shown), &err);
		if (checkf(r == 0 && words.n == 1, "<%s> comes back as one word", texts[i])) {
			check_text(words.at[0], texts[i], "<%s> comes back", texts[i]);
		}
	}
}

int main(void) {
	arena = fixture_arena();
	test_split();
	test_put();
	test_round_trip();
	arena_done(&arena);
	return check_done();
}
