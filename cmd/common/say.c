// SPDX-License-Identifier: Apache-2.0

#include "common/say.h"

#include "base/file.h"
#include "exec/exec.h"

void say_line(const struct speaker *speaker, enum log_level level, const char *text) {
	static const char *const names[] = {"error", "warning", "info", "debug"};
	if (level <= speaker->log) {
		struct buf line = BUF(speaker->arena);
		buf_putf(&line, "%s: %s: ", speaker->program, names[level]);
		buf_put_plain(&line, str_of(text));
		buf_putc(&line, '\n');
		// One write, so that lines of several processes do not mix.
		write_all(2, buf_str(&line));
	}
}

void say_notes(struct speaker *speaker, const struct notes *notes) {
	const struct note *note = speaker->said ? speaker->said->next : notes->first;
	for (; note; note = note->next) {
		say_line(speaker, LOG_WARN, note->text);
		speaker->said = note;
	}
}

int say_failure(const struct speaker *speaker, const struct err *err) {
	say_line(speaker, LOG_ERROR, err->text);
	return EXIT_OURS;
}

int say_result(const struct speaker *speaker, struct str text) {
	int r = write_all(1, text);
	struct err err;
	if (r < 0) {
		err_set(&err, -r, "cannot write to stdout: %s", strerror(-r));
		return say_failure(speaker, &err);
	}
	return 0;
}

int say_read_level(struct speaker *speaker, const struct settings *settings, unsigned log, struct err *err) {
	static const char *const words[] = {"error", "warn", "info", "debug", NULL};
	if (settings_on(settings, log)) {
		int level = settings_choose(settings, log, words, err);
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
