// SPDX-License-Identifier: Apache-2.0

/**
 * --fill. The input is lines: first variables, NAME=VALUE, then an empty line, then words. What comes
 * out is what a second, simpler filler makes of the words: one pass from left to right, which knows the
 * values of a cluster of one. So no word is split, nothing is filled twice, and what is no placeholder
 * comes out byte for byte.
 */

#include "fill/fill.h"

#include "fuzz.h"

/** Longer inputs only take time. */
#define INPUT_MAX 4096

static struct env env;

/** The values in a cluster of one. */
static const struct {
	const char *text, *value;
} values[] = {
	{"{nnodes}", "1"},
	{"{node-rank}", "0"},
	{"{rank}", "0"},
	{"{world-size}", "1"},
	{"{local-rank}", "0"},
	{"{local-world-size}", "1"},
	{"{master-addr}", "127.0.0.1"},
	{"{master-port}", "29500"},
	{"{master}", "127.0.0.1:29500"},
	{"{node-addr}", "127.0.0.1"},
	{"{hosts}", "127.0.0.1"},
	{"{hosts:80}", "127.0.0.1:80"},
	{"{nnodes*8}", "8"},
};

#define N_VALUES (sizeof(values) / sizeof(values[0]))

/** The value of the placeholder at @p; NULL: there is none of those that this filler knows. */
static const char *value_at(const char *p, size_t *len) {
	for (size_t i = 0; i < N_VALUES; i++) {
		*len = strlen(values[i].text);
		if (strncmp(p, values[i].text, *len) == 0) {
			return values[i].value;
		}
	}
	*len = 1 + strspn(p + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
	bool name = *len > 1 && !(p[1] >= '0' && p[1] <= '9') && p[*len] == '}';
	*len += 1;
	return name ? env_find(&env, (struct str){p + 1, *len - 2}) : NULL;
}

/** Whether all braces in @word are of placeholders that value_at() knows. */
static bool is_simple(const char *word) {
	for (const char *p = word; *p; p++) {
		size_t len;
		if (*p == '{') {
			if (!value_at(p, &len) ||
			    (p > word && (p[-1] == '{' || p[-1] == '$' || p[-1] == '\\'))) {
				return false;
			}
			p += len - 1;
		}
	}
	return true;
}

static void check_simple(struct arena *arena, const char *word, const char *got) {
	struct buf want = BUF(arena);
	for (const char *p = word; *p; p++) {
		size_t len;
		const char *value = *p == '{' ? value_at(p, &len) : NULL;
		if (value) {
			buf_puts(&want, value);
			p += len - 1;
		} else {
			buf_putc(&want, *p);
		}
	}
	HOLDS(strcmp(buf_text(&want), got) == 0);
}

/** The words without marks; all are for the only process, or for nobody. */
static void check_words(struct arena *arena, char **words, char **got) {
	enum role role = ROLE_ALL;
	size_t n = 0;
	for (; *words; words++) {
		struct err err;
		struct placeholder p;
		size_t at;
		bool escaped;
		if (role_mark_read(*words, &role)) {
			continue;
		}
		if (role == ROLE_WORKERS) {
			continue;
		}
		HOLDS(got[n]);
		const char *word = *words;
		if (placeholder_find(word, 0, &at, &escaped, &p, &err) == 0) {
			HOLDS(strcmp(got[n], word) == 0);
		} else if (is_simple(word)) {
			check_simple(arena, word, got[n]);
		}
		n++;
	}
	HOLDS(!got[n]);
}

/** Cut the lines of *@rest up to an empty one, or the end, into a list that ends with NULL. */
static char **cut_lines(struct arena *arena, struct str *rest, bool stops) {
	char **list = arena_array(arena, rest->len + 2, sizeof(*list));
	struct str line;
	size_t n = 0;
	while (str_cut(rest, '\n', &line) && (line.len || !stops)) {
		list[n++] = arena_text(arena, line.p, line.len);
	}
	list[n] = NULL;
	return list;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (size > INPUT_MAX || memchr(data, 0, size)) {
		return 0;
	}
	struct arena arena = fuzz_arena();
	struct str rest = {(const char *)data, size};
	struct notes notes = {.arena = &arena};
	struct flow flow;
	struct err err = {"", 0};
	env_init(&env, &arena, cut_lines(&arena, &rest, true));
	char **words = cut_lines(&arena, &rest, false), **got = NULL;
	flow_init(&flow, &arena, &env, &notes);
	bool set = env_value(&env, "MASTER_ADDR") || env_value(&env, "MASTER_PORT");
	struct fill fill = {.arena = &arena, .flow = &flow};
	if (fill_words(&fill, words, &got, &err) == 0) {
		if (!set) {
			check_words(&arena, words, got);
		}
	} else {
		HOLDS(err.text[0] && !got);
	}
	(void)fill_forgotten(words);
	arena_done(&arena);
	return 0;
}
