// SPDX-License-Identifier: Apache-2.0

#include "distinit/labelled.h"

#include "common/terminal.h"

void labelled_put(struct buf *out, const char *label, const char *text) {
	buf_putf(out, "%-14s ", label);
	buf_put_plain(out, str_of(text));
	buf_putc(out, '\n');
}

/** Append @line in colours: the whole line if it is a finding, a warning or the master; else only its label. */
static void put_line(struct buf *out, struct str line) {
	bool finding = str_starts(line, STR("finding")) || str_starts(line, STR("warning: "));
	bool master = str_starts(line, STR("master "));
	size_t head = 0;
	while (head + 1 < line.len && !(line.p[head] == ' ' && line.p[head + 1] == ' ')) {
		head++;
	}
	head = finding || master ? line.len : head + 1 < line.len ? head : 0;
	if (head) {
		buf_putf(out, "\033[%sm%.*s\033[m", finding ? "1;31" : "1", (int)head, line.p);
		line = str_from(line, head);
	}
	buf_put(out, line);
	buf_putc(out, '\n');
}

int labelled_print(struct session *s, const struct buf *out) {
	struct buf painted = BUF(&s->arena);
	struct str rest = buf_str(out), line;
	struct err err;
	int when = settings_choose(&s->settings, OPT_COLOR, &err);
	if (when < 0) {
		return session_fail(s, &err);
	}
	if (when == 2 || (when == 0 && !terminal_colours(1))) {
		return say_result(&s->speaker, rest);
	}
	while (rest.len && str_cut(&rest, '\n', &line)) {
		put_line(&painted, line);
	}
	return say_result(&s->speaker, buf_str(&painted));
}
