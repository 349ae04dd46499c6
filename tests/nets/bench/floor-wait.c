// SPDX-License-Identifier: Apache-2.0

/**
 * The yardstick for a parent that stays: starts its first argument, waits for it, and does nothing else. Linked statically with musl, as
 * distinit is.
 */

#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv) {
	int status = 0;
	pid_t child = argc > 1 ? vfork() : -1;
	if (child == 0) {
		execve(argv[1], argv + 1, environ);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
		return 126;
	}
	return WEXITSTATUS(status);
}
