// SPDX-License-Identifier: Apache-2.0

/**
 * What the workload leaves behind when it has ended: our children, and their children as they
 * become ours. They see the end of what they read, are told to end, and are killed if they do not.
 *
 * As PID 1 we tell all processes of the container, also those that came in from outside, such as
 * the shell of `docker exec`. Those are no children of ours, and an interactive shell ignores TERM:
 * so they get a moment, and no more.
 *
 * A process may fork while it is being told to end, and a grandchild becomes ours only when its
 * parent has ended: so we look again, soon and then less and less often, until there is nobody.
 */

#include "base/signals.h"
#include "init/supervisor.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

/** Milliseconds between two looks: at first, and at most. */
#define PAUSE_FIRST 1
#define PAUSE_MOST  64

/**
 * How long those who read our output may take to write what they have, and processes from outside
 * to end. Milliseconds.
 */
#define MOMENT_MS 100

/**
 * How long a killed process may take to go, in milliseconds: it may be in the middle of a write to
 * a dead disk.
 */
#define KILLED_MS 2000

/** What is called for each of the adopted. */
typedef void each_child(struct supervisor *in, pid_t pid);

static bool has_children(void) {
	siginfo_t info;
	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static bool anybody_left(const struct supervisor *in) {
	return has_children() || (in->self == 1 && send_signal(-1, 0) != -ESRCH);
}

/** Whether /proc is that of our PID namespace. Another one's has other numbers. */
static bool has_own_proc(const struct supervisor *in) {
	char self[16] = "";
	ssize_t n = readlink("/proc/self", self, sizeof(self) - 1);
	return n > 0 && atoi(self) == in->self; // NOLINT(cert-err34-c): the kernel's own number
}

/** Whether @pid, which was read from /proc, is a child of ours that lives. */
static bool is_child(pid_t pid) {
	siginfo_t info = {0};
	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

/** Call @each for all children. Returns false where the system does not list them. */
static bool for_each_child(struct supervisor *in, each_child *each) {
	char part[512];
	pid_t pid = 0;
	ssize_t n;
	int fd = has_own_proc(in) ? open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC) : -1;
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

/** Tell or kill those who are left. Returns false where they cannot be found. */
static bool reach(struct supervisor *in) {
	if (in->self != 1) {
		return for_each_child(in, in->phase == PHASE_KILLED ? kill_one : tell);
	}
	if (in->n_told++ == 0) {
		send_signal(-1, SIGTERM);
		send_signal(-1, SIGCONT);
	}
	return true;
}

/**
 * Close our end of stdin and of pipes and sockets, so that those who read them see the end. In
 * stderr's place comes a name of it, through which say() can open it again.
 */
static void leave_streams(void) {
	close(0);
	for (int fd = 1; fd <= 2; fd++) {
		struct stat info;
		if (fstat(fd, &info) < 0 || !(S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode))) {
			continue;
		}
		int name = fd == 2 ? open("/proc/self/fd/2", O_PATH | O_CLOEXEC) : -1;
		name = name < 0 ? open("/", O_PATH | O_CLOEXEC) : name;
		if (name >= 0) {
			dup2(name, fd);
			close(name);
		}
	}
}

static void begin_phase(struct supervisor *in, enum phase phase, uint64_t now) {
	in->phase = phase;
	in->began_at = now;
	in->look_at = now;
	in->pause = PAUSE_FIRST;
}

static void begin(struct supervisor *in, uint64_t now) {
	// Ctrl-C is for us again.
	terminal_leave(&in->terminal, in->child);
	in->terminal = (struct terminal){.fd = -1};
	leave_streams();
	begin_phase(in, PHASE_MOMENT, now);
}

/** When the phase is over, on now_ms()'s clock. */
static uint64_t phase_end(const struct supervisor *in) {
	bool ours = has_children();
	if (in->hurry && in->phase != PHASE_KILLED) {
		return in->began_at;
	}
	switch (in->phase) {
	case PHASE_TOLD:
		return in->began_at + (ours || in->plan.leftovers_grace_ms < MOMENT_MS
					       ? in->plan.leftovers_grace_ms
					       : MOMENT_MS);
	case PHASE_KILLED:
		return in->began_at + KILLED_MS;
	default:
		return in->began_at + (ours ? MOMENT_MS : 0);
	}
}

static void say_killed(const struct supervisor *in) {
	if (in->hurry) {
		say(in, INIT_WARN, "processes that %s left behind are killed at once, as signal %s came",
		    in->name, signal_name(in->hurry).s);
	} else {
		say(in, INIT_WARN, "processes that %s left behind have not ended in %s: they are killed",
		    in->name, spoken(in->plan.leftovers_grace_ms).s);
	}
}

/** Reach those who are left, and say where that cannot be done. Returns whether it was. */
static bool reach_or_say(struct supervisor *in) {
	if (reach(in)) {
		return true;
	}
	say(in, INIT_WARN,
	    "%s left processes behind, which cannot be found without /proc of this PID namespace: they are "
	    "left",
	    in->name);
	return false;
}

static bool begin_told(struct supervisor *in, uint64_t now) {
	begin_phase(in, PHASE_TOLD, now);
	if (!reach_or_say(in)) {
		return false;
	}
	say(in, INIT_INFO, "%s left processes behind: they are told to end", in->name);
	return true;
}

static bool begin_killed(struct supervisor *in, uint64_t now) {
	begin_phase(in, PHASE_KILLED, now);
	if (in->self == 1) {
		// When we exit, the kernel kills the rest.
		if (has_children()) {
			say_killed(in);
		}
		return false;
	}
	if (!reach_or_say(in)) {
		return false;
	}
	say_killed(in);
	return true;
}

/** The phase is over: begin the next. Returns false where there is none. */
static bool next_phase(struct supervisor *in, uint64_t now) {
	if (in->phase == PHASE_KILLED) {
		say(in, INIT_WARN, "processes that %s left behind cannot be killed: they are left", in->name);
		return false;
	}
	return in->phase == PHASE_MOMENT && !in->hurry ? begin_told(in, now) : begin_killed(in, now);
}

bool leftovers_step(struct supervisor *in) {
	if (in->plan.leftovers == LEFTOVERS_LEAVE || !anybody_left(in)) {
		return true;
	}
	uint64_t now = now_ms();
	if (in->phase < PHASE_MOMENT) {
		begin(in, now);
	}
	while (now >= phase_end(in)) {
		if (!next_phase(in, now)) {
			return true;
		}
	}
	in->kill_at = phase_end(in);
	if (now < in->look_at) {
		return false;
	}
	in->look_at = now + in->pause;
	in->pause = in->pause < PAUSE_MOST ? in->pause * 2 : PAUSE_MOST;
	return in->phase > PHASE_MOMENT && !reach_or_say(in);
}

void leftovers_hurry(struct supervisor *in, int signal) {
	bool asks_to_end = signal == SIGTERM || signal == SIGINT;
	if (asks_to_end && !was_ignored(signal)) {
		in->hurry = signal;
	} else {
		say_dropped(in, signal);
	}
}
