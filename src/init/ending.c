// SPDX-License-Identifier: Apache-2.0

/**
 * How it ends. First the workload is told, and has the grace; then what it left behind is told, and has the grace; whoever still runs is
 * killed. "What is left" is any process of the PID namespace where we are PID 1; else whoever has become our child, and their children as
 * they become ours.
 *
 * A process may fork while it is being told to end, and a grandchild becomes ours only when its parent has ended: so we look again, soon
 * and then less and less often, until there is nobody.
 */

#include "init/supervisor.h"

#include <fcntl.h>
#include <sys/wait.h>

/** Milliseconds between two looks: at first, and at most. */
#define PAUSE_FIRST 1
#define PAUSE_MOST  64

/** How long a killed process may take to go, in milliseconds: it may be in the middle of a write to a dead disk. */
#define KILLED_MS 2000

/** What is called for each of the adopted. */
typedef void each_child(struct supervisor *in, pid_t pid);

RESIDENT int send_to_workload(const struct supervisor *in, int signal) {
	return send_signal(in->plan.kill_group ? -in->child : in->child, signal);
}

/** Tell the workload to end. One that is stopped has to be continued for it. */
static void tell_workload(const struct supervisor *in) {
	int as = in->plan.signal_as[SIGTERM];
	send_to_workload(in, as ? as : SIGTERM);
	send_to_workload(in, SIGCONT);
}

/** Whether @pid, which was read from /proc, is a child of ours that lives. /proc may be another namespace's, with other numbers. */
static bool is_child(pid_t pid) {
	siginfo_t info = {0};
	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

/** Call @each for all children. Returns false where the system does not list them. */
static bool for_each_child(struct supervisor *in, each_child *each) {
	char part[512];
	pid_t pid = 0;
	ssize_t n;
	int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return false;
	}
	while ((n = read(fd, part, sizeof(part))) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			if (part[i] >= '0' && part[i] <= '9') {
				pid = pid * 10 + (part[i] - '0');
				continue;
			}
			if (pid > 0 && is_child(pid)) {
				each(in, pid);
			}
			pid = 0;
		}
	}
	close(fd);
	return n == 0;
}

static bool was_told(const struct supervisor *in, pid_t pid) {
	for (uint32_t i = 0; i < in->n_told && i < TOLD_MAX; i++) {
		if (in->told[i] == pid) {
			return true;
		}
	}
	return false;
}

static void tell(struct supervisor *in, pid_t pid) {
	if (!was_told(in, pid)) {
		in->told[in->n_told++ % TOLD_MAX] = pid;
		send_signal(pid, SIGTERM);
		send_signal(pid, SIGCONT);
	}
}

static void kill_one(struct supervisor *in, pid_t pid) {
	(void)in;
	send_signal(pid, SIGKILL);
}

/** Whether anybody is left. */
static bool anybody_left(const struct supervisor *in) {
	if (in->self == 1) {
		return send_signal(-1, 0) != -ESRCH;
	}
	siginfo_t info;
	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/** Tell or kill those who are left. Returns false where they cannot be found. */
static bool reach_left(struct supervisor *in, bool kill_them) {
	if (in->self != 1) {
		return for_each_child(in, kill_them ? kill_one : tell);
	}
	if (kill_them) {
		send_signal(-1, SIGKILL);
	} else if (in->n_told++ == 0) {
		send_signal(-1, SIGTERM);
		send_signal(-1, SIGCONT);
	}
	return true;
}

RESIDENT void ending_begin(struct supervisor *in) {
	if (in->phase == PHASE_RUNNING) {
		in->phase = PHASE_ENDING;
		in->kill_at = now_ms() + in->plan.grace_ms;
	}
}

void ending_by_limit(struct supervisor *in) {
	in->limit_at = 0;
	in->limited = true;
	tell_workload(in);
	ending_begin(in);
}

static void end_by_limit(struct supervisor *in) {
	say(in, INIT_WARN,
	    "%s has run for %s, which is the time limit: it is told to end, and killed %s later", in->name,
	    spoken(in->plan.time_limit_ms).s, spoken(in->plan.grace_ms).s);
	ending_by_limit(in);
}

static void kill_workload(struct supervisor *in) {
	in->kill_at = 0;
	say(in, INIT_WARN, "%s was told to end %s ago: it is killed", in->name, spoken(in->plan.grace_ms).s);
	send_to_workload(in, SIGKILL);
}

/** The workload has ended: tell the rest. */
static void begin_left(struct supervisor *in, uint64_t now) {
	in->phase = PHASE_LEFT;
	in->kill_at = now + in->plan.grace_ms;
	in->pause = PAUSE_FIRST;
	say(in, INIT_INFO, "the workload left processes behind: they are told to end");
}

static void begin_killed(struct supervisor *in, uint64_t now) {
	in->phase = PHASE_KILLED;
	in->kill_at = now + KILLED_MS;
	in->pause = PAUSE_FIRST;
	say(in, INIT_WARN, "processes that %s left behind have not ended in %s: they are killed", in->name,
	    spoken(in->plan.grace_ms).s);
}

/** Look after those who are left. Returns whether nobody is, or nothing can be done about them. */
static bool step_left(struct supervisor *in) {
	if (!anybody_left(in)) {
		return true;
	}
	uint64_t now = now_ms();
	if (in->phase < PHASE_LEFT) {
		begin_left(in, now);
		in->look_at = now;
	}
	if (now >= in->kill_at && in->phase == PHASE_KILLED) {
		say(in, INIT_WARN, "processes that %s left behind cannot be killed: they are left", in->name);
		return true;
	}
	if (now >= in->kill_at) {
		begin_killed(in, now);
		in->look_at = now;
	}
	if (now < in->look_at) {
		return false;
	}
	in->look_at = now + in->pause;
	in->pause = in->pause < PAUSE_MOST ? in->pause * 2 : PAUSE_MOST;
	if (!reach_left(in, in->phase == PHASE_KILLED)) {
		say(in, INIT_WARN,
		    "%s left processes behind, which cannot be found without /proc: they are left", in->name);
		return true;
	}
	return false;
}

RESIDENT bool ending_step(struct supervisor *in) {
	if (in->ended) {
		return step_left(in);
	}
	if (in->limit_at || in->kill_at) {
		uint64_t now = now_ms();
		if (in->limit_at && now >= in->limit_at) {
			end_by_limit(in);
		}
		if (in->kill_at && now >= in->kill_at) {
			kill_workload(in);
		}
	}
	return false;
}

RESIDENT uint64_t ending_next(const struct supervisor *in) {
	if (in->ended) {
		return earliest(in->look_at, in->kill_at);
	}
	return earliest(in->limit_at, in->kill_at);
}
