// SPDX-License-Identifier: Apache-2.0

/** Writes --help from the table of options. */

#include "common/settings.h"

#include "base/nearest.h"

/** The column in which help texts begin, and the last column. */
#define HELP_COLUMN 26
#define HELP_WIDTH  80

/** Write @text from HELP_COLUMN on. Break lines at blanks. */
static void put_wrapped(struct buf *out, struct str text) {
	while (text.len) {
		size_t width = HELP_WIDTH - HELP_COLUMN;
		size_t end = text.len;
		if (end > width) {
			end = width;
			while (end > 0 && text.p[end] != ' ') {
				end--;
			}
		}
		buf_put(out, (struct str){text.p, end});
		buf_putc(out, '\n');
		text = str_from(text, end < text.len ? end + 1 : end);
		if (text.len) {
			buf_putf(out, "%*s", HELP_COLUMN, "");
		}
	}
}

/** The length of the first clause, which is the short help: details follow after ':', ';' or '('. */
static size_t first_clause(const char *help) {
	size_t n = strcspn(help, ":;(");
	return n && help[n] == '(' ? n - 1 : n;
}

/** The text between the name of @o and its argument. */
static const char *joint(const struct option_table *table, const struct option *o) {
	if (!o->argument) {
		return "";
	}
	return o->id >= table->n_values ? " " : o->takes == TAKES_OPTIONAL ? "[=" : "=";
}

/** Write @o with its help text. @brief: only the first clause. */
static void put_option(struct buf *out, const struct option_table *table, const struct option *o,
		       bool brief) {
	char *head =
		arena_format(out->arena, "  %c%c%s --%s%s%s%s", o->letter ? '-' : ' ',
			     o->letter ? o->letter : ' ', o->letter ? "," : " ", o->name, joint(table, o),
			     o->argument ? o->argument : "", o->takes == TAKES_OPTIONAL ? "]" : "");
	buf_puts(out, head);
	size_t len = strlen(head);
	if (len + 2 > HELP_COLUMN) {
		buf_putc(out, '\n');
		len = 0;
	}
	buf_putf(out, "%*s", (int)(HELP_COLUMN - len), "");
	put_wrapped(out, (struct str){o->help, brief ? first_clause(o->help) : strlen(o->help)});
}

void options_write_help(struct buf *out, const struct option_table *table, unsigned command, struct str ids) {
	const struct option *group = NULL;
	for (const struct option *o = table->options; !option_is_end(o); o++) {
		group = o->takes == TAKES_HEAD ? o : group;
		bool wanted = !ids.len || memchr(ids.p, (int)o->id, ids.len);
		if (!(o->commands & command) || !wanted || !o->help || !o->name) {
			continue;
		}
		if (group) {
			buf_putf(out, "\n%s:\n", group->help);
			group = NULL;
		}
		put_option(out, table, o, ids.len);
	}
}

bool options_write_one(struct buf *out, const struct option_table *table, const char *word,
		       const char **nearest) {
	struct str name = str_from(str_of(word), strspn(word, "-"));
	struct nearest best = {.word = name};
	bool found = false;
	for (const struct option *o = table->options; !option_is_end(o); o++) {
		if (!o->name || !o->help || o->takes == TAKES_HEAD) {
			continue;
		}
		if (str_is(name, o->name)) {
			put_option(out, table, o, false);
			found = true;
		}
		nearest_try(&best, o->name);
	}
	*nearest = best.found;
	return found;
}
