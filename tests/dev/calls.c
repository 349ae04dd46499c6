// SPDX-License-Identifier: Apache-2.0

/**
 * Linked to a program that is compiled with -finstrument-functions: writes the address of each function when it is called first,
 * relative to the program's beginning, to the file CALLS, until privileges_drop() returns. tools/before-drop reads it.
 */

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define OURS __attribute__((no_instrument_function))

OURS void __cyg_profile_func_enter(void *function, void *from);
OURS void __cyg_profile_func_exit(void *function, void *from);

/** Meson links it to programs of its own, too. */
extern __attribute__((weak)) char privileges_drop[];
extern char __executable_start[];

/** A hash table of those that are written. */
static const char *seen[1 << 16];
static bool done;

static OURS bool is_new(const char *function) {
	size_t i = (uintptr_t)function % (sizeof(seen) / sizeof(seen[0]));
	while (seen[i] && seen[i] != function) {
		i = (i + 1) % (sizeof(seen) / sizeof(seen[0]));
	}
	bool new = !seen[i];
	seen[i] = function;
	return new;
}

void __cyg_profile_func_enter(void *function, void *from) {
	static int fd = -1;
	char line[32];
	(void)from;
	if (fd < 0 && !done) {
		const char *name = getenv("CALLS");
		fd = name ? open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
		done = fd < 0;
	}
	if (!done && is_new(function)) {
		int n = snprintf(line, sizeof(line), "%tx\n", (char *)function - __executable_start);
		done = write(fd, line, (size_t)n) != n;
	}
}

void __cyg_profile_func_exit(void *function, void *from) {
	(void)from;
	done = done || function == (void *)privileges_drop;
}
