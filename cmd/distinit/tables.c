// SPDX-License-Identifier: Apache-2.0

#include "distinit/subcommands.h"

#include "flow/tables.h"
#include "source/ask.h"

/** One or more lines of an entry: @verb, then words. */
struct entry_line {
	struct buf *out;
	const char *verb;
	/** 0 before the first word. */
	size_t column;
};

static void put_word(struct entry_line *line, struct str word) {
	if (line->column == 0 || line->column + 1 + word.len > 80) {
		const char *head = line->column ? "  " : line->verb;
		buf_putf(line->out, "%s%14s%s", line->column ? "\n" : "", "", head);
		line->column = 14 + strlen(head);
	}
	buf_putf(line->out, " %.*s", (int)word.len, word.p);
	line->column += 1 + word.len;
}

/** Write @verb and @words. Write nothing if @words is NULL or "". */
static void put_words(struct buf *out, const char *verb, const char *words) {
	if (!words || !*words) {
		return;
	}
	struct entry_line line = {out, verb, 0};
	struct str rest = str_of(words), word;
	while (str_cut(&rest, ' ', &word)) {
		put_word(&line, word);
	}
	if (line.column) {
		buf_putc(out, '\n');
	}
}

static void put_reads(struct buf *out, const char *const *names) {
	struct entry_line line = {out, "reads", 0};
	for (; *names; names++) {
		put_word(&line, str_of(*names));
	}
	buf_putc(out, '\n');
}

/** Write the first line of an entry: its name and description. */
static void put_head(struct buf *out, const char *name, const char *about) {
	buf_putf(out, "  %-11s %s\n", name, about);
}

int command_managers(struct session *s) {
	struct buf out = BUF(&s->arena);
	buf_puts(&out, "Cluster managers, in the order of checking (--cluster=NAME selects one):\n");
	for (size_t i = 0; sources[i]; i++) {
		put_head(&out, sources[i]->name, sources[i]->about);
		put_words(&out, "known by", source_known_by(&s->arena, sources[i]));
		put_reads(&out, source_reads(&s->arena, sources[i]));
		put_words(&out, "ignores", sources[i]->leaves);
		put_words(&out, "lacks", sources[i]->lacks);
	}
	buf_puts(&out, "\nLaunchers, which set the rank of a process, the innermost first:\n");
	for (size_t i = 0; launchers[i]; i++) {
		put_head(&out, launchers[i]->name, launchers[i]->about);
		const char *reads[LAUNCHER_READS];
		launcher_reads(launchers[i], reads);
		put_reads(&out, reads);
	}
	return say_result(&s->speaker, buf_str(&out));
}

int command_frameworks(struct session *s) {
	struct buf out = BUF(&s->arena);
	buf_puts(&out, "Frameworks (--frameworks=LIST; those marked * are the default):\n");
	for (size_t i = 0; frameworks[i]; i++) {
		const struct framework *f = frameworks[i];
		const char *name = arena_format(&s->arena, "%s%s", f->name, f->standard ? "*" : "");
		put_head(&out, name, f->about);
		put_words(&out, "sets", f->sets);
	}
	return say_result(&s->speaker, buf_str(&out));
}
