// SPDX-License-Identifier: Apache-2.0

#include "base/aside.h"

#include "base/file.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

pid_t fork_aside(int keep) {
	long pid = syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L);
	if (pid < 0 && errno == EINVAL) {
		// An emulator may support fork() only.
		pid = fork();
	}
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (keep > 0) {
			file_close_range(0, (unsigned)keep - 1);
		}
		file_close_range((unsigned)keep + 1, ~0U);
	}
	return (pid_t)pid;
}
