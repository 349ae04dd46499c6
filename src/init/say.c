// SPDX-License-Identifier: Apache-2.0

#include "base/num.h"
#include "init/supervisor.h"
#include "report/termination.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>

/**
 * Write @line if that does not block. After leave_streams(), stderr is an O_PATH descriptor, and is
 * opened again for this line.
 */
static void put_line(const char *line, size_t len) {
	struct pollfd stderr_is = {.fd = 2, .events = POLLOUT};
	if (poll(&stderr_is, 1, 0) != 1 || write(2, line, len) >= 0 || errno != EBADF) {
		return;
	}
	int fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0) {
		ssize_t n = write(fd, line, len);
		(void)n;
		close(fd);
	}
}

void say(const struct supervisor *in, enum init_log level, const char *format, ...) {
	const char *also = in->last_words ? in->plan.termination_log : NULL;
	if (in->plan.log < level && !also) {
		return;
	}
	// A single write, so that lines of several processes do not mix.
	char line[400];
	size_t head = strlen(in->plan.program);
	memcpy(line, in->plan.program, head);
	static const char *const kinds[] = {": error: ", ": warning: ", ": info: "};
	struct str kind = str_of(kinds[level]);
	memcpy(line + head, kind.p, kind.len);
	head += kind.len;
	va_list args;
	va_start(args, format);
	size_t len = head + (size_t)vsnprintf(line + head, sizeof(line) - head - 1, format, args);
	va_end(args);
	len = len < sizeof(line) - 2 ? len : sizeof(line) - 2;
	// The program's name is foreign text, and could contain control characters for the
	// terminal. There is no room here for \xNN.
	for (size_t i = head; i < len; i++) {
		line[i] = line[i] < ' ' || line[i] > '~' ? '?' : line[i];
	}
	line[len++] = '\n';
	if (in->plan.log >= level) {
		put_line(line, len);
	}
	if (also) {
		termination_log(also, (struct str){line, len}, !in->explained);
	}
}

struct spoken spoken(uint64_t ms) {
	struct spoken out = {""};
	size_t n = num_write(out.s, ms / 1000);
	unsigned rest = (unsigned)(ms % 1000);
	if (rest) {
		out.s[n++] = '.';
		for (unsigned digit = 100; rest; rest %= digit, digit /= 10) {
			out.s[n++] = (char)('0' + rest / digit);
		}
	}
	out.s[n] = 's';
	return out;
}
