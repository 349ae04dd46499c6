// SPDX-License-Identifier: Apache-2.0

/** Reaps children, and keeps the workload's status. */

#include "init/supervisor.h"

#include <sys/wait.h>

/** Handle @status, which waitpid() returned for @pid. */
static void take_status(struct supervisor *in, pid_t pid, int status) {
	// When the workload has been reaped, another process may get its PID.
	if (pid != in->child || in->ended) {
		leftovers_reaped(in);
		observe(in->plan.observer, EVENT_REAPED, pid, status);
		return;
	}
	if (WIFSTOPPED(status)) {
		terminal_stopped(in, WSTOPSIG(status));
		return;
	}
	in->ended = true;
	in->status = status;
	why_ended(in);
	observe(in->plan.observer, EVENT_REAPED, pid, status);
}

void reap(struct supervisor *in) {
	int options = WNOHANG | (in->terminal.fd >= 0 && !in->terminal.shared ? WUNTRACED : 0);
	int status = 0;
	pid_t pid;
	while ((pid = reap_child(-1, &status, options)) > 0) {
		take_status(in, pid, status);
	}
}
