// SPDX-License-Identifier: Apache-2.0

/**
 * The yardstick: becomes its first argument, and does nothing else. Linked statically with musl, as
 * distinit is, it is the least that any entrypoint written in C costs.
 */

#include <unistd.h>

extern char **environ;

int main(int argc, char **argv) {
	if (argc > 1) {
		execve(argv[1], argv + 1, environ);
	}
	return 127;
}
