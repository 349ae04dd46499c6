// SPDX-License-Identifier: Apache-2.0

#include "together/workers.h"

#include "base/clock.h"
#include "base/entries.h"
#include "base/file.h"
#include "base/num.h"
#include "base/proc.h"

#include <stdio.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/** The interval of looking for new children: in the first minute, and after that. */
#define SCAN_MS	     1000
#define SCAN_LATE_MS 10000
#define LATE_MS	     60000

/** If the exit status of an ended worker is not found: try again after RETRY_MS, RETRY_MAX times in all. */
#define RETRY_MS  50
#define RETRY_MAX 20

/** struct pidfd_info of Linux 6.15, declared here because the headers may be older. */
struct end_info {
	uint64_t mask;
	uint64_t cgroup;
	uint32_t ids[11];
	int32_t exit_code;
};
#define END_INFO     _IOWR(0xff, 11, struct end_info)
#define END_INFO_BIT ((uint64_t)1 << 3)

static bool is_shell(const char *name) {
	static const char *const shells[] = {"sh", "bash", "dash", "ash", "busybox", "zsh"};
	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
		if (strcmp(name, shells[i]) == 0) {
			return true;
		}
	}
	return false;
}

/** A list of processes. */
struct pids {
	uint32_t n;
	pid_t at[WORKERS_MAX];
};

/** Add @pid to the list @arg. */
static void add_pid(void *arg, pid_t pid) {
	struct pids *out = arg;
	if (out->n < WORKERS_MAX) {
		out->at[out->n++] = pid;
	}
}

/** Add the children of @parent without CONFIG_PROC_CHILDREN: look at all processes. */
static void add_by_parent(pid_t parent, struct pids *out) {
	struct entries all;
	struct proc_stat stat;
	entries_open(&all, "/proc");
	for (const char *name; (name = entries_next(&all));) {
		uint64_t pid = 0;
		if (num_read(str_of(name), INT32_MAX, &pid) == 0 && proc_stat_read((pid_t)pid, &stat) &&
		    stat.parent == parent) {
			add_pid(out, (pid_t)pid);
		}
	}
}

static void add_children(pid_t parent, struct pids *out) {
	if (!proc_children(parent, add_pid, out)) {
		add_by_parent(parent, out);
	}
}

/** List the processes to watch: the program's children, or their children if the program is a shell. */
static void find_workers(pid_t program, struct pids *out) {
	struct proc_stat stat;
	struct pids wrapped = {0};
	out->n = 0;
	if (!proc_stat_read(program, &stat) || !is_shell(stat.name)) {
		add_children(program, out);
		return;
	}
	add_children(program, &wrapped);
	for (uint32_t i = 0; i < wrapped.n; i++) {
		add_children(wrapped.at[i], out);
	}
}

/** Find a free slot; NULL: there is none. */
static struct worker *find_room(struct workers *w) {
	if (w->n < WORKERS_MAX) {
		return &w->at[w->n++];
	}
	for (struct worker *one = w->at; one < w->at + w->n; one++) {
		if (one->pidfd < 0) {
			return one;
		}
	}
	return NULL;
}

/** Whether the process is or was watched: one that has ended may stay as a zombie. */
static bool is_known(const struct workers *w, pid_t pid, uint64_t start) {
	for (const struct worker *one = w->at; one < w->at + w->n; one++) {
		if (one->pid == pid && one->start == start) {
			return true;
		}
	}
	return false;
}

/**
 * Watch @pid, unless it is watched. If it has ended already, epoll reports that at once. Returns whether it
 * is new, and runs.
 */
static bool watch_worker(struct workers *w, pid_t pid) {
	struct proc_stat stat;
	if (!proc_stat_read(pid, &stat) || is_known(w, pid, stat.start)) {
		return false;
	}
	struct worker *worker = find_room(w);
	if (!worker) {
		return false;
	}
	*worker = (struct worker){.pid = pid, .start = stat.start, .ended_at = CLOCK_NEVER};
	worker->ran = stat.state != 'Z';
	worker->visible = worker->ran && stat.start_code != 1;
	snprintf(worker->name, sizeof(worker->name), "%s", stat.name);
	worker->pidfd = (int)syscall(SYS_pidfd_open, pid, 0U);
	struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT,
				    .data.u64 = WORKERS_BIT | (uint64_t)(worker - w->at)};
	if (worker->pidfd >= 0 && epoll_ctl(w->epoll, EPOLL_CTL_ADD, worker->pidfd, &event) < 0) {
		close(worker->pidfd);
		worker->pidfd = -1;
	}
	return worker->pidfd >= 0 && worker->ran;
}

void workers_begin(struct workers *w, int epoll, pid_t program) {
	w->program = program;
	w->epoll = epoll;
	w->begun = clock_now_ms();
	w->scan_at = w->begun + SCAN_MS / 4;
	w->n = 0;
}

void workers_end(struct workers *w) {
	for (uint32_t i = 0; i < w->n; i++) {
		if (w->at[i].pidfd >= 0) {
			close(w->at[i].pidfd);
		}
	}
	w->program = 0;
	w->scan_at = CLOCK_NEVER;
	w->n = 0;
}

bool workers_scan(struct workers *w, uint64_t now) {
	struct pids found;
	bool any = false;
	if (now < w->scan_at) {
		return false;
	}
	find_workers(w->program, &found);
	for (uint32_t i = 0; i < found.n; i++) {
		any |= watch_worker(w, found.at[i]);
	}
	w->scan_at = now + (now - w->begun < LATE_MS ? SCAN_MS : SCAN_LATE_MS);
	return any;
}

/** How long ago the worker started, in ms. `start` is in clock ticks, on CLOCK_BOOTTIME. */
static uint64_t age_ms(const struct worker *one) {
	uint64_t start_ms = one->start * 1000 / getauxval(AT_CLKTCK);
	struct timespec now;
	clock_gettime(CLOCK_BOOTTIME, &now);
	return clock_left(start_ms, (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000);
}

void workers_ready(struct workers *w, uint32_t i, uint64_t now) {
	if (i < w->n && w->at[i].pidfd >= 0) {
		w->at[i].ended_at = now;
		w->at[i].lived_ms = w->at[i].ran ? age_ms(&w->at[i]) : 0;
	}
}

/**
 * Read the exit status of an ended worker: from the zombie's /proc/PID/stat, or from its pidfd. Returns
 * whether it is known.
 */
static bool read_end(const struct worker *one, int *status) {
	struct proc_stat stat;
	struct end_info info = {.mask = END_INFO_BIT};
	// If we may not see the status, /proc shows 0.
	if (proc_stat_read(one->pid, &stat) && stat.start == one->start && stat.state == 'Z' &&
	    (one->visible || stat.exit_code)) {
		*status = (int)stat.exit_code;
		return true;
	}
	// syscall(), because the types of ioctl()'s number differ between glibc and musl.
	if (syscall(SYS_ioctl, one->pidfd, END_INFO, &info) == 0 && (info.mask & END_INFO_BIT)) {
		*status = info.exit_code;
		return true;
	}
	return false;
}

bool workers_next(struct workers *w, struct worker_end *out) {
	for (struct worker *one = w->at; one < w->at + w->n; one++) {
		if (one->pidfd < 0 || one->ended_at == CLOCK_NEVER) {
			continue;
		}
		bool known = read_end(one, &out->status);
		if (!known && ++one->tries < RETRY_MAX) {
			w->scan_at = clock_earlier(w->scan_at, clock_now_ms() + RETRY_MS);
			continue;
		}
		close(one->pidfd);
		one->pidfd = -1;
		if (known) {
			out->pid = one->pid;
			out->name = one->name;
			out->at = one->ended_at;
			out->lived_ms = one->lived_ms;
			return true;
		}
	}
	return false;
}

/** Whether the process descends from us. */
static bool is_ours(pid_t parent) {
	struct proc_stat stat;
	const pid_t self = getpid();
	for (int depth = 0; parent != self && parent > 1 && depth < 64; depth++) {
		parent = proc_stat_read(parent, &stat) ? stat.parent : 0;
	}
	return parent == self;
}

void workers_put_states(pid_t own, struct buf *out) {
	unsigned blocked = 0, running = 0, sleeping = 0;
	char path[40], where[64] = "";
	struct entries all;
	struct proc_stat stat;
	entries_open(&all, "/proc");
	for (const char *name; (name = entries_next(&all));) {
		uint64_t pid = 0;
		if (num_read(str_of(name), INT32_MAX, &pid) < 0 || (pid_t)pid == own ||
		    !proc_stat_read((pid_t)pid, &stat) || !is_ours(stat.parent)) {
			continue;
		}
		blocked += stat.state == 'D';
		running += stat.state == 'R';
		sleeping += !strchr("DRZX", stat.state);
		snprintf(path, sizeof(path), "/proc/%d/wchan", (int)pid);
		if (stat.state == 'D' && !where[0] && file_read_small(path, where, sizeof(where)) < 0) {
			where[0] = '\0';
		}
	}
	buf_puts(out, "; its processes: ");
	if (blocked) {
		buf_putf(out, "%u in D", blocked);
		buf_putf(out, where[0] && where[0] != '0' ? " (%s), " : ", ", where);
	}
	buf_putf(out, "%u running, %u sleeping", running, sleeping);
}
