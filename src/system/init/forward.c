// SPDX-License-Identifier: Apache-2.0

/** Forwards signals to the workload. */

#include "base/signals.h"
#include "init/supervisor.h"

#include <string.h>
#include <sys/wait.h>

/**
 * How often to send a queued signal again if the workload's signal queue is full, with a millisecond between
 * two tries.
 */
#define QUEUE_TRIES 1000

int send_to_workload(const struct supervisor *in, int signal, siginfo_t *info) {
	const bool queued = info && info->si_code < 0 && info->si_code != SI_TKILL && !in->plan.kill_group;
	if (!queued) {
		return send_signal(in->plan.kill_group ? -in->child : in->child, signal);
	}
	int r = -EAGAIN;
	info->si_signo = signal;
	for (int i = 0; r == -EAGAIN && i <= QUEUE_TRIES; i++) {
		if (i > 0) {
			poll_one(-1, 0, 1);
		}
		r = (int)kernel(SYS_rt_sigqueueinfo, in->child, signal, (long)info, 0);
	}
	return r;
}

/**
 * Whether the workload is stopped. waitid() does not report a stop again that reap.c has got; `stopped` keeps it.
 */
static bool is_stopped(const struct supervisor *in) {
	siginfo_t info = {0};
	return in->stopped ||
	       (waitid(P_PID, (id_t)in->child, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0);
}

void continue_workload(struct supervisor *in) {
	if (is_stopped(in)) {
		in->stopped = false;
		send_to_workload(in, SIGCONT, NULL);
	}
}

bool was_ignored(int signal) {
	struct sigaction inherited;
	return sigaction(signal, NULL, &inherited) == 0 && inherited.sa_handler == SIG_IGN;
}

static void say_refused(struct supervisor *in, int signal, int r) {
	if (!in->refused) {
		in->refused = true;
		say(in, LOG_WARN, "signal %s cannot be sent to %s: %s", signal_name(signal).s, in->name,
		    strerror(-r));
	}
}

static void say_forwarded(const struct supervisor *in, int signal, int as) {
	if (in->plan.log >= LOG_INFO) {
		say(in, LOG_INFO, "signal %s is forwarded%s%s", signal_name(signal).s,
		    as == signal ? "" : " as ", as == signal ? "" : signal_name(as).s);
	}
}

void say_dropped(const struct supervisor *in, int signal) {
	if (in->plan.log >= LOG_INFO) {
		say(in, LOG_INFO, "signal %s is dropped", signal_name(signal).s);
	}
}

bool forward(struct supervisor *in, siginfo_t *info) {
	int signal = info->si_signo, as = in->plan.signal_as[signal];
	tell_signal(in, info, as);
	if (as == 0) {
		say_dropped(in, signal);
		observe(in->plan.observer, EVENT_FORWARDED, signal, 0);
		return false;
	}
	why_asked(in, info);
	int r = send_to_workload(in, as, info);
	if (r < 0 && r != -ESRCH) {
		say_refused(in, as, r);
	}
	say_forwarded(in, signal, as);
	if (signal == SIGTERM || as == SIGTERM) {
		// A stopped process handles the signal only when it is continued.
		continue_workload(in);
	}
	observe(in->plan.observer, EVENT_FORWARDED, signal, as);
	// If TERM was ignored at our start, it does not begin the grace period.
	return signal == SIGTERM && !was_ignored(signal);
}
