// SPDX-License-Identifier: Apache-2.0

/**
 * The terminal. The workload gets a process group of its own, and the foreground if we had it, so that the
 * kernel sends Ctrl-C to the workload once, and not to us. For the shell that started us, workload and
 * distinit are one job: when Ctrl-Z stops the workload, we stop, too, and when we are continued, we give the
 * foreground to the workload again.
 *
 * In a pipeline or a script, other processes share our group and must not lose the terminal. There the
 * workload stays in our group.
 */

#include "init/supervisor.h"

#include <signal.h>
#include <unistd.h>

struct terminal terminal_look(const struct init_plan *plan) {
	struct terminal out = {.fd = -1};
	pid_t group = getpgrp(), foreground = -1;
	unsigned on_terminal = 0;
	for (int fd = 0; fd <= 2; fd++) {
		// This succeeds for our controlling terminal only. Other terminals and files give ENOTTY.
		pid_t its = tcgetpgrp(fd);
		if (its < 0) {
			continue;
		}
		on_terminal |= 1U << fd;
		if (out.fd < 0) {
			out.fd = fd;
			foreground = its;
		}
	}
	out.foreground = out.fd >= 0 && foreground == group;
	bool alone = getpid() == 1 || (group == getpid() && (on_terminal & 3) == 3);
	out.shared = out.foreground && !alone && !plan->kill_group;
	return out;
}

void terminal_enter(const struct terminal *terminal) {
	if (terminal->shared) {
		return;
	}
	setpgid(0, 0);
	if (terminal->foreground) {
		// SIGTTOU is blocked here, so this also works from the background.
		tcsetpgrp(terminal->fd, getpid());
	}
}

bool terminal_owns(const struct supervisor *in, const siginfo_t *info) {
	// The terminal's signals come from the kernel.
	if (info->si_code != SI_KERNEL) {
		return false;
	}
	const signal_set always = signal_bit(SIGTTIN) | signal_bit(SIGTTOU);
	const signal_set to_all_in_front =
		signal_bit(SIGINT) | signal_bit(SIGQUIT) | signal_bit(SIGTSTP) | signal_bit(SIGWINCH);
	signal_set owned = in->terminal.shared ? always | to_all_in_front : always;
	return owned & signal_bit(info->si_signo);
}

/**
 * Stop this process by the default action of @signal. If no process could continue us (in a session without a shell,
 * or as PID 1), the kernel does not stop us.
 * Returns whether we were stopped and continued, or SIGCONT was already pending; SIGCONT is pending then.
 */
static bool stop_as(int signal) {
	if (pending_signals() & signal_bit(SIGCONT)) {
		// Stopping would discard this SIGCONT, and no process would send another one.
		return true;
	}
	struct sigaction plain = {.sa_handler = SIG_DFL}, before;
	sigaction(signal, &plain, &before);
	send_signal(getpid(), signal);
	block_signals(ALL_SIGNALS & ~signal_bit(signal), NULL);
	block_signals(ALL_SIGNALS, NULL);
	sigaction(signal, &before, NULL);
	return pending_signals() & signal_bit(SIGCONT);
}

void terminal_stopped(struct supervisor *in, int signal) {
	if (in->ended || in->phase != PHASE_RUNNING) {
		return;
	}
	bool reads_or_writes = signal == SIGTTIN || signal == SIGTTOU;
	if (reads_or_writes && tcgetpgrp(in->terminal.fd) == getpgrp()) {
		// The workload needs the terminal, and we have the foreground: give it to the workload.
		tcsetpgrp(in->terminal.fd, in->child);
		send_signal(-in->child, SIGCONT);
		return;
	}
	bool continued = stop_as(signal == SIGSTOP ? SIGTSTP : signal);
	if (!continued && signal != SIGSTOP) {
		// No process could continue us, so continue the workload: without distinit, the kernel would not
		// have stopped it, either.
		send_signal(-in->child, SIGCONT);
	}
	in->stopped = !continued && signal == SIGSTOP;
}

void terminal_handle(const struct supervisor *in, int signal) {
	bool stops = signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
	if (stops && in->terminal.shared && stop_as(signal)) {
		// The workload was continued together with us, so do not forward SIGCONT.
		siginfo_t info;
		take_signal(signal_bit(SIGCONT), &info, &(struct timespec){0});
	}
}

bool terminal_continue(const struct supervisor *in) {
	if (in->terminal.fd < 0 || in->terminal.shared || in->plan.signal_as[SIGCONT] != SIGCONT) {
		return false;
	}
	if (tcgetpgrp(in->terminal.fd) == getpgrp()) {
		tcsetpgrp(in->terminal.fd, in->child);
	}
	send_signal(-in->child, SIGCONT);
	return true;
}

void terminal_leave(const struct terminal *terminal, pid_t child) {
	if (terminal->foreground && !terminal->shared && tcgetpgrp(terminal->fd) == child) {
		tcsetpgrp(terminal->fd, getpgrp());
	}
}
