// SPDX-License-Identifier: Apache-2.0

#include "base/words.h"

#include <errno.h>

/** Add @word. It is never written to, although execve() takes it without const. */
static void add(struct words *words, char *word) {
	words->at = arena_more(words->arena, words->at, words->n, &words->cap, sizeof(*words->at));
	words->at[words->n++] = word;
}

void words_add(struct words *words, const char *word) {
	union {
		const char *in;
		char *out;
	} text = {.in = word};
	add(words, text.out);
}

void words_addf(struct words *words, const char *format, ...) {
	va_list args;
	va_start(args, format);
	add(words, arena_vformat(words->arena, format, args));
	va_end(args);
}

void words_add_all(struct words *words, char *const more[]) {
	for (size_t i = 0; more && more[i]; i++) {
		add(words, more[i]);
	}
}

char **words_vector(struct words *words) {
	add(words, NULL);
	words->n--;
	return words->at;
}

/** The state while one text is split. */
struct splitting {
	const char *from;
	struct str text;
	/** The position in the text. */
	size_t at;
	struct err *err;
};

static int refuse_expansion(const struct splitting *s, char c) {
	return err_set(s->err, EINVAL,
		       "%s=%s: '%c' is special in a shell, but no shell reads this; use single quotes",
		       s->from, quote(s->text).s, c);
}

/** Read the text between quotes, from after the opening quote to after the closing one. */
static int read_quoted(struct splitting *s, char mark, struct buf *word) {
	for (; s->at < s->text.len; s->at++) {
		char c = s->text.p[s->at];
		if (c == mark) {
			s->at++;
			return 0;
		}
		if (mark == '"' && (c == '$' || c == '`')) {
			return refuse_expansion(s, c);
		}
		bool escape = mark == '"' && c == '\\' && s->at + 1 < s->text.len &&
			      strchr("\"\\$`", s->text.p[s->at + 1]);
		buf_putc(word, escape ? s->text.p[++s->at] : c);
	}
	return err_set(s->err, EINVAL, "%s=%s: the closing %c is missing", s->from, quote(s->text).s, mark);
}

/** Read one word, up to a blank. */
static int read_word(struct splitting *s, struct buf *word) {
	int r = 0;
	while (r == 0 && s->at < s->text.len) {
		char c = s->text.p[s->at];
		if (c == ' ' || c == '\t' || c == '\n') {
			break;
		}
		s->at++;
		if (c == '\'' || c == '"') {
			r = read_quoted(s, c, word);
		} else if (c == '\\' && s->at < s->text.len) {
			buf_putc(word, s->text.p[s->at++]);
		} else if (strchr("$`;&|<>()*?\\", c)) {
			r = refuse_expansion(s, c);
		} else {
			buf_putc(word, c);
		}
	}
	return r;
}

int words_split(struct words *words, const char *from, struct str text, struct err *err) {
	struct splitting s = {.from = from, .text = text, .err = err};
	while (s.at < text.len) {
		char c = text.p[s.at];
		if (c == ' ' || c == '\t' || c == '\n') {
			s.at++;
			continue;
		}
		struct buf word = BUF(words->arena);
		int r = read_word(&s, &word);
		if (r < 0) {
			return r;
		}
		add(words, buf_text(&word));
	}
	return 0;
}

/** Write @word in single quotes. */
static void put_shell_quoted(struct buf *out, const char *word) {
	buf_putc(out, '\'');
	for (; *word; word++) {
		if (*word == '\'') {
			buf_puts(out, "'\\''");
		} else {
			buf_putc(out, *word);
		}
	}
	buf_putc(out, '\'');
}

bool word_is_plain(const char *word) {
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,+@%";
	return *word && word[strspn(word, plain)] == '\0';
}

void word_put(struct buf *out, const char *word) {
	if (word_is_plain(word)) {
		buf_puts(out, word);
	} else {
		put_shell_quoted(out, word);
	}
}

void words_put(struct buf *out, char *const argv[]) {
	for (size_t i = 0; argv[i]; i++) {
		if (i) {
			buf_putc(out, ' ');
		}
		// As the first word of a command, NAME=VALUE is an assignment, unless it begins
		// with '-'.
		if (i == 0 && argv[i][0] != '-' && strchr(argv[i], '=')) {
			put_shell_quoted(out, argv[i]);
		} else {
			word_put(out, argv[i]);
		}
	}
}
