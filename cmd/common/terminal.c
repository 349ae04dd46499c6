// SPDX-License-Identifier: Apache-2.0

#include "common/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool is_set(const char *name) {
	const char *value = getenv(name);
	return value && *value;
}

static bool is_capable(int fd) {
	const char *term = getenv("TERM");
	return term && *term && strcmp(term, "dumb") != 0 && isatty(fd);
}

bool terminal_rewrites(void) {
	return is_capable(2);
}

bool terminal_colours(int fd) {
	return !is_set("NO_COLOR") && is_capable(fd);
}

size_t terminal_columns(void) {
	struct winsize size;
	return ioctl(2, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}
