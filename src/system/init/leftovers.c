// SPDX-License-Identifier: Apache-2.0

/**
 * Ends the leftovers: the processes that remain when the workload has ended. These are our children, and
 * their children, which become ours. Leftovers that read our output see its end of file; then they are asked
 * to end; then they are killed.
 *
 * As PID 1 we signal all processes of the container, including those that came from outside, such as the
 * shell of `docker exec`. Those are not our children, and an interactive shell ignores TERM, so they only get
 * MOMENT_MS.
 *
 * If the workload starts again, also as PID 1, only its own descendants are ended, and all of them must be
 * gone before the start.
 *
 * A process that is asked to end may need its children, or new processes, to end properly. So only our
 * children are asked; a grandchild becomes ours when its parent has ended. All descendants are killed at
 * once. A process may fork meanwhile. So we look again, first often and then less often, until a look finds
 * none. (As PID 1 without a restart, the kernel finds all: kill(-1).)
 */

#include "base/file.h"
#include "base/num.h"
#include "base/proc.h"
#include "base/signals.h"
#include "init/supervisor.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
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

/** The same for the readers if leftovers are left: as PID 1, we take them along when we exit. */
#define LAST_MOMENT_MS 10

/**
 * How long a killed process may take to disappear, in milliseconds. It may be in the middle of a
 * write to a disk that does not respond.
 */
#define KILLED_MS 2000

/**
 * The same before the workload starts again: it may hold a device, a port or memory. A test program has less.
 */
#ifndef GONE_MS
#define GONE_MS 60000
#endif

/** More numbers of processes than there are: the kernel's PID_MAX_LIMIT. */
#define PIDS_MAX (4 << 20)

static bool has_children(void) {
	siginfo_t info;
	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/** Whether the workload starts again: then only its descendants are ended, and all of them must be gone. */
static bool starts_again(const struct supervisor *in) {
	return in->plan.observer->again;
}

/** Whether /proc is that of our PID namespace. In another one, the numbers differ. */
static bool has_own_proc(const struct supervisor *in) {
	char self[16] = "";
	ssize_t n = readlink("/proc/self", self, sizeof(self) - 1);
	return n > 0 && strtoul(self, NULL, 10) == (unsigned long)in->self;
}

/** Whether @pid is a running child of ours. Then nobody else gets its number before we reap it. */
static bool is_child(pid_t pid) {
	siginfo_t info = {0};
	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

/** Map the memory of the family. Returns whether that was possible. */
static bool map_family(struct family *f) {
	char text[32];
	uint64_t limit = PIDS_MAX;
	if (f->seen) {
		return true;
	}
	const ssize_t n = file_read_small("/proc/sys/kernel/pid_max", text, sizeof(text));
	num_read(str_trim((struct str){text, n > 0 ? (size_t)n - 1 : 0}), PIDS_MAX, &limit);
	// Only used pages take memory. A page has some 340 processes.
	char *memory = mmap(NULL, limit * (sizeof(*f->seen) + sizeof(*f->found)), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED) {
		return false;
	}
	f->limit = (pid_t)limit;
	f->seen = (void *)memory;
	f->found = (void *)(f->seen + limit);
	return true;
}

/** What is known of @pid, whose start is @start; it may be new. NULL: nothing can be. */
static struct seen *see(struct family *f, pid_t pid, uint64_t start) {
	struct seen *seen = f->seen && pid < f->limit ? &f->seen[pid] : NULL;
	if (seen && (!seen->is_known || seen->start != (uint32_t)start)) {
		*seen = (struct seen){.start = (uint32_t)start, .is_known = true, .is_new = true};
	}
	return seen;
}

/** Whether @pid still is the process that was found. */
static bool is_same(const struct family *f, pid_t pid) {
	struct proc_stat stat;
	return proc_stat_read(pid, &stat) && f->seen[pid].start == (uint32_t)stat.start;
}

/**
 * Whether @pid, a child of PID 1, came from outside, such as an orphan of a shell of "docker exec": then its
 * parent was never one of ours. If that is unknown (a daemon of the workload with an emptied environment),
 * the process counts as from outside.
 */
static bool is_from_outside(const struct supervisor *in, const struct proc_stat *stat) {
	struct proc_stat leader;
	if (in->self != 1 || !stat->state) {
		return false;
	}
	if (stat->group == 0) {
		return true; // a group outside of our namespace; the workload and all that it starts are in some inside
	}
	if (stat->session == getsid(0)) {
		return false;
	}
	if (stat->session != stat->pid && proc_stat_read(stat->session, &leader)) {
		while (leader.parent > 1 && proc_stat_read(leader.parent, &leader)) {
		}
		return leader.parent == 0;
	}
	return in->plan.mark && proc_began_with(stat->pid, in->plan.mark) == 0;
}

/** The same of a child of ours. */
static struct seen *see_child(struct supervisor *in, const struct proc_stat *stat) {
	struct seen *seen = see(&in->family, stat->pid, stat->start);
	if (seen && seen->is_new) {
		seen->is_new = false;
		seen->is_outside = in->child == 0 || (starts_again(in) && is_from_outside(in, stat));
	}
	return seen;
}

/** A child of family.parent, of which nothing else is known than its number @pid. */
static void take_child(void *arg, pid_t pid) {
	struct supervisor *in = arg;
	struct family *f = &in->family;
	struct proc_stat stat = {.pid = pid};
	const bool is_ours = f->parent == in->self, is_known = proc_stat_read(pid, &stat);
	// Meanwhile it may have ended, and another have its number. Of another user's, /proc may tell
	// nothing.
	if (is_ours ? !is_child(pid) : !is_known || stat.parent != f->parent) {
		return;
	}
	struct seen *seen = is_ours ? see_child(in, &stat) : see(f, pid, stat.start);
	if (seen && seen->look != f->look && !(seen->is_outside && starts_again(in)) && f->n < f->limit) {
		seen->look = f->look;
		f->found[f->n++] = pid;
	}
}

/**
 * Find our children that are leftovers, or with @all also their descendants. Returns false if nothing lists
 * them.
 */
static bool look(struct supervisor *in, bool all) {
	struct family *f = &in->family;
	f->n = 0;
	f->look++;
	f->parent = in->self;
	if (!has_own_proc(in) || !map_family(f) || !proc_children(PROC_OWN, take_child, in)) {
		return false;
	}
	for (pid_t i = 0; all && i < f->n; i++) {
		const pid_t before = f->n;
		f->parent = f->found[i];
		proc_children(f->parent, take_child, in);
		// If it has ended, these may be the children of another with its number.
		f->n = f->n == before || is_same(f, f->parent) ? f->n : before;
	}
	return true;
}

/** Count @pid, a child of ours, unless it came from outside. */
static void count_child(void *arg, pid_t pid) {
	struct supervisor *in = arg;
	struct proc_stat stat = {.pid = pid};
	if (is_child(pid)) {
		proc_stat_read(pid, &stat);
		const struct seen *seen = see_child(in, &stat);
		in->n_left += !(seen && seen->is_outside);
	}
}

/** Whether the workload has left a process behind. Each has an ancestor, or is one, that is our child. */
static bool has_leftovers(struct supervisor *in) {
	in->n_left = 0;
	return has_children() && (!starts_again(in) || !has_own_proc(in) || !map_family(&in->family) ||
				  !proc_children(PROC_OWN, count_child, in) || in->n_left);
}

int leftovers_prepare(struct supervisor *in, struct err *err) {
	if (!has_children()) {
		return 0;
	}
	if (!map_family(&in->family)) {
		return err_set(err, ENOMEM,
			       "%s cannot be restarted later: no memory for the list of processes", in->name);
	}
	look(in, false);
	return 0;
}

void leftovers_done(struct supervisor *in) {
	struct family *f = &in->family;
	if (f->seen) {
		munmap(f->seen, (size_t)f->limit * (sizeof(*f->seen) + sizeof(*f->found)));
		*f = (struct family){.n = 0};
	}
}

void leftovers_reaped(struct supervisor *in) {
	if (in->phase > PHASE_MOMENT) {
		in->pause = PAUSE_FIRST;
		in->look_at = clock_earlier(in->look_at, clock_now_ms() + PAUSE_FIRST + in->look_ms);
	}
}

/** List the processes that cannot be killed in @in->stuck, as far as there is room. */
static void name_stuck(struct supervisor *in) {
	const struct family *f = &in->family;
	look(in, true);
	for (pid_t i = 0; i < f->n; i++) {
		size_t len = strlen(in->stuck), room = sizeof(in->stuck) - len;
		struct proc_stat stat;
		snprintf(in->stuck + len, room, "%s%d (%s)", len ? ", " : "", (int)f->found[i],
			 proc_stat_read(f->found[i], &stat) ? stat.name : "?");
	}
}

/** Send @signal to @pid, if it still is the process that was found. */
static void send_to(const struct supervisor *in, pid_t pid, int signal) {
	if (is_child(pid)) {
		send_signal(pid, signal);
		return;
	}
	// Before Linux 5.3 there are none: then it gets the signal when it has become our child.
	const int fd = (int)syscall(SYS_pidfd_open, pid, 0U);
	if (fd >= 0) {
		if (is_same(&in->family, pid)) {
			syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0U);
		}
		close(fd);
	}
}

/** Ask remaining processes to end, or kill them. Returns false if they cannot be found. */
static bool reach(struct supervisor *in) {
	struct family *f = &in->family;
	if (in->self != 1 || starts_again(in)) {
		const bool kill = in->phase == PHASE_KILLED;
		const uint64_t begun = clock_now_ms();
		const bool found = look(in, kill);
		for (pid_t i = 0; found && i < f->n; i++) {
			const pid_t pid = f->found[i];
			if (kill) {
				send_to(in, pid, SIGKILL);
			} else if (!f->seen[pid].was_asked) {
				f->seen[pid].was_asked = true;
				send_to(in, pid, SIGTERM);
				send_to(in, pid, SIGCONT);
			}
		}
		in->look_ms = clock_now_ms() - begun;
		// While they get fewer, the kernel is still ending them.
		if (found && kill && f->n < f->fewest) {
			f->fewest = f->n;
			in->began_at = clock_now_ms();
		}
		return found;
	}
	if (!in->all_asked) {
		in->all_asked = true;
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
	file_leave_stream(0);
	for (int fd = 1; fd <= 2; fd++) {
		struct stat info;
		if (fstat(fd, &info) < 0 || !(S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode))) {
			continue;
		}
		const int name = fd == 2 ? open("/proc/self/fd/2", O_PATH | O_CLOEXEC) : -1;
		if (name < 0 || dup3(name, fd, O_CLOEXEC) < 0) {
			file_leave_stream(fd);
		}
		if (name >= 0) {
			close(name);
		}
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
	const bool no_memory = has_own_proc(in) && !in->family.seen;
	say(in, LOG_WARN, "%s left processes behind, which cannot be found without %s: they are left running",
	    in->name, no_memory ? "memory for their list" : "/proc of this PID namespace");
	snprintf(in->stuck, sizeof(in->stuck), "%s",
		 no_memory ? "there is no memory for their list" : "there is no /proc of this PID namespace");
	return false;
}

/** The phase is over: begin the next one, or go on with it. Returns false if it was the last. */
static bool next_phase(struct supervisor *in, uint64_t now) {
	if (in->phase == PHASE_KILLED) {
		// Thousands take longer to reap than the phase lasts. Go on as long as they get fewer.
		const pid_t fewest = in->family.fewest;
		if (reach(in) && in->family.fewest < fewest) {
			return true;
		}
		if (starts_again(in)) {
			name_stuck(in);
			return false;
		}
		say(in, LOG_WARN, "processes that %s left behind cannot be killed: they are left running",
		    in->name);
		return false;
	}
	if (in->phase == PHASE_MOMENT && !in->hurry) {
		begin_phase(in, PHASE_ASKED, now);
		if (!reach_or_say(in)) {
			return false;
		}
		say(in, LOG_INFO, "%s left processes behind: they are asked to end", in->name);
		return true;
	}
	begin_phase(in, PHASE_KILLED, now);
	in->family.fewest = PIDS_MAX;
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

/**
 * Leftovers are left, and the kernel kills them when PID 1 exits. A child may be the reader of our output,
 * such as tee, so children get a moment to see its end. Returns whether that is over.
 */
static bool last_moment(struct supervisor *in) {
	const uint64_t now = clock_now_ms();
	if (in->self != 1 || !has_children()) {
		return true;
	}
	if (in->phase < PHASE_MOMENT) {
		begin(in, now);
		leave(in);
		in->kill_at = now + LAST_MOMENT_MS;
		in->look_at = CLOCK_NEVER; // the end of a child wakes us
	}
	return in->hurry || now >= in->kill_at;
}

bool leftovers_step(struct supervisor *in) {
	if (in->plan.leftovers == LEFTOVERS_LEAVE) {
		return last_moment(in);
	}
	// As PID 1, others may be there that are not our children.
	if (!has_leftovers(in) && (in->self != 1 || starts_again(in) || send_signal(-1, 0) == -ESRCH)) {
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
	in->look_at = now + in->pause + in->look_ms;
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
