// SPDX-License-Identifier: Apache-2.0

#include "distinit/subcommands.h"

#include "base/json_write.h"
#include "exec/exec.h"
#include "flow/tables.h"
#include "source/ask.h"

/** The state while a table is printed, as text or JSON. */
struct listing {
	struct buf out;
	struct json json;
	bool is_json;
	/** Text: the column in an entry's line; 0: before its first word. */
	size_t column;
};

static void put_word(struct listing *t, const char *verb, struct str word) {
	if (t->column == 0 || t->column + 1 + word.len > 80) {
		const char *head = t->column ? "  " : verb;
		buf_putf(&t->out, "%s%14s%s", t->column ? "\n" : "", "", head);
		t->column = 14 + strlen(head);
	}
	buf_putf(&t->out, " %.*s", (int)word.len, word.p);
	t->column += 1 + word.len;
}

/** Append @verb and @words. JSON: always a list. Text: nothing if @words is NULL or "". */
static void put_words(struct listing *t, const char *verb, const char *words) {
	struct str rest = str_of(words ? words : ""), word;
	t->column = 0;
	if (t->is_json) {
		json_open(&t->json, verb, '[');
	}
	while (rest.len && str_cut(&rest, ' ', &word)) {
		if (t->is_json) {
			json_string(&t->json, NULL, word);
		} else {
			put_word(t, verb, word);
		}
	}
	if (t->is_json) {
		json_close(&t->json, ']');
	}
	buf_puts(&t->out, t->column ? "\n" : "");
}

/** Append @verb and the sentence @text, in the same way. */
static void put_text(struct listing *t, const char *verb, const char *key, const char *text) {
	if (t->is_json) {
		json_text(&t->json, key, text);
	} else {
		put_words(t, verb, text);
	}
}

static void put_reads(struct listing *t, const char *const *names) {
	struct buf all = BUF(t->out.arena);
	for (; *names; names++) {
		buf_putf(&all, "%s%s", all.len ? " " : "", *names);
	}
	put_words(t, "reads", buf_text(&all));
}

/** Begin a group of entries, and end the group before it. */
static void begin_group(struct listing *t, const char *key, const char *head) {
	if (t->is_json) {
		json_open(&t->json, key, '[');
	} else {
		buf_putf(&t->out, "%s%s:\n", t->out.len ? "\n" : "", head);
	}
}

static void end(struct listing *t, char bracket) {
	if (t->is_json) {
		json_close(&t->json, bracket);
	}
}

/** Write the first line of an entry: its name and description. */
static void begin_entry(struct listing *t, const char *name, const char *mark, const char *about) {
	if (t->is_json) {
		json_open(&t->json, NULL, '{');
		json_text(&t->json, "name", name);
		json_text(&t->json, "about", about);
	} else {
		buf_putf(&t->out, "  %-11s %s\n", arena_format(t->out.arena, "%s%s", name, mark), about);
	}
}

static void put_managers(struct session *s, struct listing *t) {
	begin_group(t, "managers", "Cluster managers, in the order of checking (--cluster=NAME selects one)");
	for (size_t i = 0; sources[i]; i++) {
		begin_entry(t, sources[i]->name, "", sources[i]->about);
		put_text(t, "known by", "known_by", source_known_by(&s->arena, sources[i]));
		put_reads(t, source_reads(&s->arena, sources[i]));
		put_text(t, "ignores", "ignores", sources[i]->leaves);
		put_text(t, "lacks", "lacks", source_lacks(sources[i]));
		end(t, '}');
	}
	end(t, ']');
	begin_group(t, "launchers", "Launchers, which set the rank of a process, the innermost first");
	for (size_t i = 0; launchers[i]; i++) {
		const char *reads[LAUNCHER_READS];
		launcher_reads(launchers[i], reads);
		begin_entry(t, launchers[i]->name, "", launchers[i]->about);
		put_reads(t, reads);
		end(t, '}');
	}
}

static void put_frameworks(struct session *s, struct listing *t) {
	(void)s;
	begin_group(t, "frameworks", "Frameworks (--frameworks=LIST; those marked * are the default)");
	for (size_t i = 0; frameworks[i]; i++) {
		const struct framework *f = frameworks[i];
		begin_entry(t, f->name, f->standard ? "*" : "", f->about);
		if (t->is_json) {
			json_fact(&t->json, "default", f->standard);
		}
		put_words(t, "sets", f->sets);
		end(t, '}');
	}
}

static int print_table(struct session *s, void (*put)(struct session *s, struct listing *t)) {
	struct listing t = {.out = BUF(&s->arena), .json = {.out = &t.out, .spread = 2}};
	struct err err;
	int format = settings_choose(&s->settings, OPT_FORMAT, &err);
	if (format < 0) {
		return session_fail(s, &err);
	}
	t.is_json = format;
	if (t.is_json) {
		json_open(&t.json, NULL, '{');
	}
	put(s, &t);
	end(&t, ']');
	end(&t, '}');
	buf_puts(&t.out, t.is_json ? "\n" : "");
	return say_result(&s->speaker, buf_str(&t.out));
}

int command_managers(struct session *s) {
	return print_table(s, put_managers);
}

int command_frameworks(struct session *s) {
	return print_table(s, put_frameworks);
}
