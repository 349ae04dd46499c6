// SPDX-License-Identifier: Apache-2.0

/**
 * What remains when the workload has ended: our children, and their children, which become ours.
 * They see end of file on what they read from us, are asked to end, and are killed if they do not.
 *
 * As PID 1 we signal all processes of the container, including those that came from outside, such
 * as the shell of `docker exec`. Those are not our children, and an interactive shell ignores TERM,
 * so they only get MOMENT_MS.
 *
 * If the workload starts again, only what it started itself and what became ours ends, as PID 1, too.
 * All of it has to be gone then.
 *
 * A process may fork while we signal it, and a grandchild becomes ours only when its parent has
 * ended. So we look again, first often and then less often, until no process remains.
 */

#include "base/signals.h"
#include "init/supervisor.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

/** Milliseconds between two looks: the first interval, and the longest. */
#define PAUSE_FIRST 1
#define PAUSE_MOST  64

/**
 * How long processes that read our output may take to write what they have, and how long processes
 * from outside may take to end. In milliseconds.
 */
#define MOMENT_MS 100

/**
 * How long a killed process may take to disappear, in milliseconds. It may be in the middle of a
 * write to a disk that does not respond.
 */
#define KILLED_MS 2000

/** The same before the workload starts again: it may hold a device, a port or memory. A test program has less. */
#ifndef GONE_MS
#define GONE_MS 60000
#endif

/** Called for each child. */
typedef void each_child(struct supervisor *in, pid_t pid);

static bool has_children(void) {
	siginfo_t info;
	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/** Whether the workload starts again: who is not its own is left in peace, and all others have to go. */
static bool starts_again(const struct supervisor *in) {
	return in->plan.observer->again;
}

/** Whether /proc is that of our PID namespace. In another one, the numbers differ. */
static bool has_own_proc(const struct supervisor *in) {
	char self[16] = "";
	ssize_t n = readlink("/proc/self", self, sizeof(self) - 1);
	return n > 0 && strtoul(self, NULL, 10) == (unsigned long)in->self;
}

/** Whether @pid, a number read from /proc, is a running child of ours. */
static bool is_child(const struct supervisor *in, pid_t pid) {
	siginfo_t info = {0};
	for (uint32_t i = 0; i < in->n_others && starts_again(in); i++) {
		if (in->others[i] == pid) {
			return false;
		}
	}
	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

/** Call @each for all children. Returns false if the system does not list them. */
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
			if (pid > 0 && is_child(in, pid)) {
				each(in, pid);
			}
			pid = 0;
		}
	}
	close(fd);
	return n == 0;
}

static void count_one(struct supervisor *in, pid_t pid) {
	(void)pid;
	in->n_left++;
}

/** Whether the workload has left a child behind. */
static bool has_leftovers(struct supervisor *in) {
	in->n_left = 0;
	return has_children() &&
	       (!starts_again(in) || !in->n_others || !for_each_child(in, count_one) || in->n_left);
}

static bool anybody_left(struct supervisor *in) {
	return has_leftovers(in) || (in->self == 1 && !starts_again(in) && send_signal(-1, 0) != -ESRCH);
}

static void note_other(struct supervisor *in, pid_t pid) {
	if (in->n_others < OTHERS_MAX) {
		in->others[in->n_others++] = pid;
	}
}

void leftovers_prepare(struct supervisor *in) {
	if (has_children()) {
		for_each_child(in, note_other);
	}
}

/** Name one of those that cannot be killed. */
static void name_one(struct supervisor *in, pid_t pid) {
	size_t len = strlen(in->stuck), room = sizeof(in->stuck) - len;
	char path[32], name[17] = "?";
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, name, sizeof(name) - 1);
	close(fd);
	snprintf(in->stuck + len, room, "%s%d (%.*s)", len ? ", " : "", (int)pid, n > 1 ? (int)n - 1 : 1,
		 name);
}

static bool was_asked(const struct supervisor *in, pid_t pid) {
	for (uint32_t i = 0; i < in->n_asked && i < ASKED_MAX; i++) {
		if (in->asked[i] == pid) {
			return true;
		}
	}
	return false;
}

static void ask_to_end(struct supervisor *in, pid_t pid) {
	if (!was_asked(in, pid)) {
		in->asked[in->n_asked++ % ASKED_MAX] = pid;
		send_signal(pid, SIGTERM);
		send_signal(pid, SIGCONT);
	}
}

static void kill_one(struct supervisor *in, pid_t pid) {
	(void)in;
	send_signal(pid, SIGKILL);
}

/** Ask remaining processes to end, or kill them. Returns false if they cannot be found. */
static bool reach(struct supervisor *in) {
	if (in->self != 1 || starts_again(in)) {
		return for_each_child(in, in->phase == PHASE_KILLED ? kill_one : ask_to_end);
	}
	if (in->n_asked++ == 0) {
		send_signal(-1, SIGTERM);
		send_signal(-1, SIGCONT);
	}
	return true;
}

/**
 * Close stdin, and stdout and stderr if they are pipes or sockets, so that their readers see end of
 * file. An O_PATH descriptor replaces stderr: say() can open stderr again through it.
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
		// Rather without a stream than with a reader that waits for its end.
		if (dup2(name, fd) < 0) {
			close(fd);
		}
		close(name);
	}
}

/** There is no other start. */
static void leave(struct supervisor *in) {
	in->left = true;
	leave_streams();
	if (in->plan.restarts) {
		if (in->signal_fd >= 0) {
			close(in->signal_fd);
			in->signal_fd = -1;
		}
		leave_places(in->plan.observer);
	}
}

static void begin_phase(struct supervisor *in, enum phase phase, uint64_t now) {
	in->phase = phase;
	in->began_at = now;
	in->look_at = now;
	in->pause = PAUSE_FIRST;
}

static void begin(struct supervisor *in, uint64_t now) {
	// From here on, Ctrl-C is for us again.
	terminal_leave(&in->terminal, in->child);
	in->terminal = (struct terminal){.fd = -1};
	begin_phase(in, PHASE_MOMENT, now);
}

/** When the phase ends, on clock_now_ms()'s clock. */
static uint64_t phase_end(struct supervisor *in) {
	bool ours = has_leftovers(in);
	if (in->hurry && in->phase != PHASE_KILLED) {
		return in->began_at;
	}
	switch (in->phase) {
	case PHASE_ASKED:
		return in->began_at + (ours || in->plan.leftovers_grace_ms < MOMENT_MS
					       ? in->plan.leftovers_grace_ms
					       : MOMENT_MS);
	case PHASE_KILLED:
		return in->began_at + (starts_again(in) ? GONE_MS : KILLED_MS);
	default:
		return in->began_at + (ours && !starts_again(in) ? MOMENT_MS : 0);
	}
}

static void say_killed(const struct supervisor *in) {
	if (in->hurry) {
		say(in, LOG_WARN, "processes that %s left behind are killed now, because signal %s came",
		    in->name, signal_name(in->hurry).s);
	} else {
		say(in, LOG_WARN, "processes that %s left behind have not ended in %s: they are killed",
		    in->name, duration_text(in->plan.leftovers_grace_ms).s);
	}
}

/** Signal the remaining processes. If they cannot be found, warn and return false. */
static bool reach_or_say(struct supervisor *in) {
	if (reach(in)) {
		return true;
	}
	say(in, LOG_WARN,
	    "%s left processes behind, which cannot be found without /proc of this PID namespace: "
	    "they are left running",
	    in->name);
	snprintf(in->stuck, sizeof(in->stuck), "there is no /proc of this PID namespace");
	return false;
}

static bool begin_asked(struct supervisor *in, uint64_t now) {
	begin_phase(in, PHASE_ASKED, now);
	if (!reach_or_say(in)) {
		return false;
	}
	say(in, LOG_INFO, "%s left processes behind: they are asked to end", in->name);
	return true;
}

static bool begin_killed(struct supervisor *in, uint64_t now) {
	begin_phase(in, PHASE_KILLED, now);
	if (in->self == 1 && !starts_again(in)) {
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

/** The phase is over: begin the next one. Returns false if it was the last. */
static bool next_phase(struct supervisor *in, uint64_t now) {
	if (in->phase == PHASE_KILLED) {
		if (starts_again(in)) {
			for_each_child(in, name_one);
			return false;
		}
		say(in, LOG_WARN, "processes that %s left behind cannot be killed: they are left running",
		    in->name);
		return false;
	}
	return in->phase == PHASE_MOMENT && !in->hurry ? begin_asked(in, now) : begin_killed(in, now);
}

bool leftovers_step(struct supervisor *in) {
	if (in->plan.leftovers == LEFTOVERS_LEAVE || !anybody_left(in)) {
		return true;
	}
	uint64_t now = clock_now_ms();
	if (in->phase < PHASE_MOMENT) {
		begin(in, now);
	}
	if (!in->left && !starts_again(in)) {
		leave(in);
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
