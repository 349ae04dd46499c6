// SPDX-License-Identifier: Apache-2.0

/** Reaps children, and keeps the workload's status. */

#include "init/supervisor.h"

#include <sys/wait.h>

void reap(struct supervisor *in) {
	int options = WNOHANG | (in->terminal.fd >= 0 && !in->terminal.shared ? WUNTRACED : 0);
	int status = 0;
	pid_t pid;
	while ((pid = reap_child(-1, &status, options)) > 0) {
		// When the workload has been reaped, another process may get its PID.
		if (pid != in->child || in->ended) {
			leftovers_reaped(in);
		} else if (WIFSTOPPED(status)) {
			terminal_stopped(in, WSTOPSIG(status));
			continue;
		} else {
			in->ended = true;
			in->status = status;
			why_ended(in);
		}
		observe(in->plan.observer, EVENT_REAPED, pid, status);
	}
}
