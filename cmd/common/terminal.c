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

bool terminal_rewrites(void) {
	const char *term = getenv("TERM");
	return term && *term && strcmp(term, "dumb") != 0 && isatty(2);
}

bool terminal_colours(void) {
	return !is_set("NO_COLOR") && terminal_rewrites();
}

size_t terminal_columns(void) {
	struct winsize size;
	return ioctl(2, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}
