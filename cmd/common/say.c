// SPDX-License-Identifier: Apache-2.0

#include "common/say.h"

#include "base/file.h"
#include "common/terminal.h"
#include "exec/exec.h"

/** Moves the cursor to the first column, and clears the line. */
#define CLEAR "\r\033[K"

static void put(const struct speaker *speaker, struct str line) {
	if (speaker->at_once) {
		write_at_once(2, line);
	} else {
		write_all(2, line);
	}
}

void say_line(struct speaker *speaker, enum log_level level, const char *text) {
	if (level <= speaker->log) {
		struct buf line = BUF(speaker->arena);
		buf_putf(&line, "%s%s: %s: ", speaker->status ? CLEAR : "", speaker->program,
			 log_word(level, terminal_colours(2)));
		buf_put_plain(&line, str_of(text));
		buf_putc(&line, '\n');
		speaker->status = false;
		// One write, so that lines of several processes do not mix.
		put(speaker, buf_str(&line));
	}
}

/** The end of a line that was cut because it is too long for the terminal. */
#define CUT "..."

bool say_status(struct speaker *speaker, const char *text) {
	if (!terminal_rewrites()) {
		return false;
	}
	if (speaker->log >= LOG_WARN) {
		struct buf plain = BUF(speaker->arena), line = BUF(speaker->arena);
		buf_putf(&plain, "%s: ", speaker->program);
		buf_put_plain(&plain, str_of(text));
		// A full line would wrap, and its first part could not be rewritten.
		size_t most = terminal_columns() - 1;
		buf_puts(&line, CLEAR);
		if (plain.len > most && most > strlen(CUT)) {
			buf_put(&line, (struct str){plain.p, most - strlen(CUT)});
			buf_puts(&line, CUT);
		} else {
			buf_put(&line, (struct str){plain.p, plain.len < most ? plain.len : most});
		}
		speaker->status = true;
		put(speaker, buf_str(&line));
	}
	return true;
}

void say_status_end(struct speaker *speaker) {
	if (speaker->status) {
		speaker->status = false;
		write_all(2, STR(CLEAR));
	}
}

void say_notes(struct speaker *speaker, const struct notes *notes) {
	const struct note *note = speaker->said ? speaker->said->next : notes->first;
	for (; note; note = note->next) {
		say_line(speaker, LOG_WARN, note->text);
		speaker->said = note;
	}
}

int say_failure(struct speaker *speaker, const struct err *err) {
	say_line(speaker, LOG_ERROR, err->text);
	return EXIT_OURS;
}

int say_result(struct speaker *speaker, struct str text) {
	int r = write_all(1, text);
	struct err err;
	if (r < 0) {
		err_set(&err, -r, "cannot write to stdout: %s", strerror(-r));
		return say_failure(speaker, &err);
	}
	return 0;
}

int say_read_level(struct speaker *speaker, const struct settings *settings, unsigned log, struct err *err) {
	if (settings_on(settings, log)) {
		int level = settings_choose(settings, log, err);
		if (level < 0) {
			return level;
		}
		speaker->log = (enum log_level)level;
	}
	if (settings->verbose) {
		speaker->log = settings->verbose > 1 ? LOG_DEBUG : LOG_INFO;
	}
	return 0;
}
