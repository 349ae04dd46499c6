// SPDX-License-Identifier: Apache-2.0

#include "common/say.h"

#include "exec/exec.h"

#include <errno.h>
#include <unistd.h>

const char *const log_level_words[] = {"error", "warn", "info", "debug", NULL};

int write_whole(int fd, struct str text) {
	while (text.len) {
		ssize_t n = write(fd, text.p, text.len);
		if (n < 0 && errno != EINTR) {
			return -errno;
		}
		text = str_from(text, n > 0 ? (size_t)n : 0);
	}
	return 0;
}

void say_line(const struct speaker *speaker, enum log_level level, const char *text) {
	static const char *const names[] = {"error", "warning", "info", "debug"};
	if (level <= speaker->log) {
		// One write: lines of several processes do not mix.
		write_whole(2, str_of(arena_format(speaker->arena, "%s: %s: %s\n", speaker->program,
						   names[level], text)));
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
	int r = write_whole(1, text);
	struct err err;
	if (r < 0) {
		err_set(&err, -r, "cannot write to stdout: %s", strerror(-r));
		return say_failure(speaker, &err);
	}
	return 0;
}
