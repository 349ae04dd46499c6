// SPDX-License-Identifier: Apache-2.0

#include "distinit/commands.h"

#include "flow/tables.h"

#include <errno.h>

/** Write one line of an entry, or several: @verb and @words. NULL and "" are none. */
static void put_words(struct buf *out, const char *verb, const char *words) {
	if (!words || !*words) {
		return;
	}
	struct str rest = str_of(words), word;
	size_t column = 0;
	while (str_cut(&rest, ' ', &word)) {
		if (column == 0 || column + 1 + word.len > 80) {
			buf_putf(out, "%s%14s%s", column ? "\n" : "", "", column ? "  " : verb);
			column = 14 + (column ? 2 : strlen(verb));
		}
		buf_putf(out, " %.*s", (int)word.len, word.p);
		column += 1 + word.len;
	}
	buf_putc(out, '\n');
}

/** Write the head of an entry: its name, and what it is. */
static void put_head(struct buf *out, const char *name, const char *about) {
	buf_putf(out, "  %-11s %s\n", name, about);
}

static int refuse_arguments(struct session *s) {
	struct err err;
	err_set(&err, EINVAL, "a table takes no argument, not %s", quote(str_of(s->settings.arguments[0])).s);
	return session_fail(s, &err);
}

const char *launcher_reads(struct arena *arena, const struct launcher *l) {
	const char *const names[] = {l->recognised_by, l->rank,	      l->size,
				     l->local_rank,    l->local_size, l->host};
	struct buf reads = BUF(arena);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i]) {
			buf_putf(&reads, "%s%s", reads.len ? " " : "", names[i]);
		}
	}
	return buf_text(&reads);
}

int command_sources(struct session *s) {
	if (s->settings.arguments[0]) {
		return refuse_arguments(s);
	}
	struct buf out = BUF(&s->arena);
	buf_puts(&out, "Cluster managers, in the order of asking (--cluster=NAME picks one):\n");
	for (size_t i = 0; sources[i]; i++) {
		put_head(&out, sources[i]->name, sources[i]->about);
		put_words(&out, "known by", sources[i]->known_by);
		put_words(&out, "reads", sources[i]->reads);
		put_words(&out, "leaves alone", sources[i]->leaves);
		put_words(&out, "is not told", sources[i]->lacks);
	}
	buf_puts(&out, "\nLaunchers, which tell a process its rank, the innermost first:\n");
	for (size_t i = 0; launchers[i]; i++) {
		put_head(&out, launchers[i]->name, launchers[i]->about);
		put_words(&out, "reads", launcher_reads(&s->arena, launchers[i]));
	}
	return say_result(&s->speaker, buf_str(&out));
}

int command_frameworks(struct session *s) {
	if (s->settings.arguments[0]) {
		return refuse_arguments(s);
	}
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
