// SPDX-License-Identifier: Apache-2.0

#include "exec/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>

int spawn(const struct spawn *program, pid_t *pid) {
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	for (int fd = 0; fd < 3; fd++) {
		if (program->streams[fd] >= 0) {
			posix_spawn_file_actions_adddup2(&actions, program->streams[fd], fd);
		} else if (fd == 0) {
			posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDONLY, 0);
		}
	}
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setflags(&attributes,
				 (program->in_session ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP) |
					 POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	int code = posix_spawnp(pid, program->argv[0], &actions, &attributes, program->argv, program->envp);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return -code;
}
