// SPDX-License-Identifier: Apache-2.0

#include "base/file.h"
#include "init/supervisor.h"
#include "report/termination.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>

/**
 * Write @line to stderr, unless that would block. After leave_streams(), stderr is an O_PATH descriptor, so
 * open it again for this line.
 */
static void put_line(const char *line, size_t len) {
	if (write_at_once(2, (struct str){line, len}) != -EBADF) {
		return;
	}
	int fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0) {
		ssize_t n = write(fd, line, len);
		(void)n;
		close(fd);
	}
}

/** A message line. It is written by one write(), so that lines of several processes do not mix. */
struct message_line {
	char text[420];
	size_t len;
};

__attribute__((format(printf, 4, 0))) static void compose(struct message_line *line,
							  const struct supervisor *in, const char *word,
							  const char *format, va_list args) {
	const size_t size = sizeof(line->text) - 1;
	size_t head = (size_t)snprintf(line->text, size, "%s: %s: ", in->plan.program, word);
	size_t len = head + (size_t)vsnprintf(line->text + head, size - head, format, args);
	len = len < size - 1 ? len : size - 1;
	// The workload's name is foreign text and could contain control characters for the terminal. Write '?'
	// for each, because the line has no room for \xNN.
	for (size_t i = head; i < len; i++) {
		line->text[i] = line->text[i] < ' ' || line->text[i] > '~' ? '?' : line->text[i];
	}
	line->text[len++] = '\n';
	line->len = len;
}

/** Write @line to the termination log @path. If a restart is possible, keep the line instead. */
static void put_words(const struct supervisor *in, const char *path, struct str line) {
	struct kept_words *kept = in->kept;
	if (!kept) {
		termination_log(in->plan.access, path, line, !in->explained);
	} else if (line.len <= sizeof(kept->text) - kept->len) {
		kept->if_empty = kept->len ? kept->if_empty : !in->explained;
		memcpy(kept->text + kept->len, line.p, line.len);
		kept->len += line.len;
	}
}

void say(const struct supervisor *in, enum log_level level, const char *format, ...) {
	const char *also = in->last_words ? in->plan.termination_log : NULL;
	struct message_line line;
	va_list args;
	if (in->plan.log >= level) {
		va_start(args, format);
		compose(&line, in, log_word(level, in->plan.colour), format, args);
		va_end(args);
		put_line(line.text, line.len);
	}
	if (also) {
		va_start(args, format);
		compose(&line, in, log_word(level, false), format, args);
		va_end(args);
		put_words(in, also, (struct str){line.text, line.len});
	}
}

void say_kept(struct supervisor *in) {
	const struct kept_words *kept = in->kept;
	in->kept = NULL;
	if (kept->len) {
		termination_log(in->plan.access, in->plan.termination_log,
				(struct str){kept->text, kept->len}, kept->if_empty);
	}
}
