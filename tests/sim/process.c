// SPDX-License-Identifier: Apache-2.0

/** Processes: how they start, wait, and end; signals; system calls that fail. */

#include "inside.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

uint32_t calls_most = CALLS_MOST;

struct weather weather;
struct watchers watchers;
struct process processes[PROCESSES_MAX];
int n_processes;
struct process *current;
uint64_t n_calls;

static bool is_over;

static bool is_left(const struct process *process) {
	return process->state != PROCESS_DONE && process->state != PROCESS_DEAD;
}

bool process_is_alive(const struct process *process) {
	return process && is_left(process);
}

void processes_begin(void) {
	n_processes = 0;
	n_calls = 0;
	is_over = false;
	current = NULL;
}

struct process *process_start(uint64_t at, int host, const char *name, void (*main)(struct process *),
			      void *context) {
	if (n_processes == PROCESSES_MAX) {
		fprintf(stderr, "sim: too many processes\n");
		abort();
	}
	struct process *process = &processes[n_processes];
	*process = (struct process){.id = n_processes++,
				    .host = host,
				    .name = name,
				    .main = main,
				    .context = context,
				    .soft = 1024,
				    .hard = 1 << 20};
	process->state = PROCESS_PAUSED;
	fiber_begin(process);
	run_at(process, at);
	return process;
}

void process_run(struct process *process, uint32_t turn) {
	if (turn != process->turn || !is_left(process)) {
		return;
	}
	if (process->stopped_until > time_now) {
		run_at(process, process->stopped_until);
		return;
	}
	process->state = PROCESS_READY;
	fiber_enter(process);
}

static void pause_for(uint64_t us) {
	current->state = PROCESS_PAUSED;
	run_at(current, time_now + us);
	fiber_leave();
}

void process_exit(void) {
	current->state = PROCESS_DONE;
	current->ended_at = time_now;
	fiber_leave();
	abort();
}

void process_sleep(uint64_t us) {
	if (current->state == PROCESS_DEAD) {
		fiber_leave();
	}
	pause_for(us);
}

void sleep_until(uint64_t at) {
	current->state = PROCESS_WAITING;
	current->turn++;
	if (at != NEVER) {
		run_at(current, at);
	}
	fiber_leave();
}

void wake(struct process *process) {
	if (process && process->state == PROCESS_WAITING) {
		process->state = PROCESS_PAUSED;
		run_at(process,
		       time_now + choose_rarely(C_wake_late, (unsigned)process->id, process->n_wakes++,
						weather.interrupt, weather.interrupt_most));
	}
}

void job_ends(void) {
	is_over = true;
	fiber_leave();
}

/** Whether this call has to fail. */
static int failure(struct process *process, enum call call) {
	if (call == CALL_NONE || call != process->fails) {
		return 0;
	}
	if (process->fails_until && time_now >= process->fails_until) {
		process->fails = CALL_NONE;
		return 0;
	}
	if (!process->fails_until) {
		process->fails = CALL_NONE;
	}
	trace("a system call fails: %s", strerror(process->fails_with));
	return process->fails_with;
}

int enter(enum call call) {
	struct process *process = current;
	process->calls++;
	n_calls++;
	if (time_now >= process->second + 1 * S) {
		process->second = time_now;
		process->calls_before = process->calls;
	}
	if (process->calls - process->calls_before > calls_most) {
		broken("no-turning", "%s makes %u system calls within %.3f s", process->name, calls_most,
		       (double)(time_now - process->second) / S);
		job_ends();
	}
	time_now += weather.call;
	if (watchers.on_call) {
		watchers.on_call(process);
	}
	if (process->state == PROCESS_DEAD) {
		fiber_leave();
	}
	const uint64_t interrupt = choose_rarely(C_interrupt, (unsigned)process->id, process->calls,
						 weather.interrupt, weather.interrupt_most);
	if (process->stopped_until > time_now) {
		pause_for(process->stopped_until - time_now);
	} else if (interrupt) {
		pause_for(interrupt);
	} else if (events_due()) {
		pause_for(0);
	}
	return failure(process, call);
}

void process_stop(struct process *process, uint64_t us) {
	trace("%s is stopped for %.3f ms", process->name, (double)us / 1000);
	process->stopped_until = time_now + us;
	process->stopped += us;
}

void process_fail(struct process *process, enum call call, int code, uint64_t until) {
	process->fails = call;
	process->fails_with = code;
	process->fails_until = until;
}

int call_errno(enum call call, unsigned which) {
	static const int codes[N_CALLS][4] = {
		[CALL_SOCKET] = {EMFILE, ENFILE, ENOBUFS, ENOMEM},
		[CALL_BIND] = {EADDRINUSE, EACCES, ENOMEM},
		[CALL_LISTEN] = {EADDRINUSE},
		[CALL_CONNECT] = {ECONNREFUSED, ENETUNREACH, EADDRNOTAVAIL, ETIMEDOUT},
		[CALL_ACCEPT] = {EMFILE, ECONNABORTED, ENFILE, ENOMEM},
		[CALL_OPTION] = {ENOMEM, ENOPROTOOPT},
		[CALL_SEND] = {ECONNRESET, ENOBUFS, ENOMEM, EPIPE},
		[CALL_RECEIVE] = {ECONNRESET, ENOMEM, ETIMEDOUT},
		[CALL_POLL] = {EINTR, ENOMEM},
		[CALL_EPOLL_CREATE] = {EMFILE, ENOMEM, ENFILE},
		[CALL_EPOLL_CHANGE] = {ENOMEM, ENOSPC},
		[CALL_EPOLL_WAIT] = {EINTR},
		[CALL_SIGNALS] = {EMFILE, ENOMEM, ENFILE},
		[CALL_RANDOM] = {ENOSYS},
		[CALL_LOOK_UP] = {EAGAIN, EMFILE, ENOMEM},
		[CALL_OPEN] = {EMFILE, ENOENT, EACCES, ENOMEM},
		[CALL_PIDFD] = {EMFILE, ENOSYS, ESRCH, EPERM},
	};
	const int code = codes[call][which & 3];
	return code ? code : codes[call][0];
}

void process_signal(struct process *process, int number) {
	if (!is_left(process)) {
		return;
	}
	const uint64_t bit = (uint64_t)1 << (number - 1);
	trace("%s gets signal %d", process->name, number);
	if (!(process->mask & bit)) {
		process->killed_by = number;
		process_kill(process);
		return;
	}
	process->pending |= bit;
	for (int fd = 0; fd < FILES_MAX; fd++) {
		struct file *file = process->files[fd];
		if (file && file->kind == FILE_SIGNALS && (file->signals & bit)) {
			file_notify(file);
		}
	}
}

void process_kill(struct process *process) {
	if (!is_left(process)) {
		return;
	}
	trace("%s is killed", process->name);
	process->killed_by = process->killed_by ? process->killed_by : SIGKILL;
	process->state = PROCESS_DEAD;
	process->ended_at = time_now;
	process->turn++;
	for (int fd = 0; fd < FILES_MAX; fd++) {
		if (process->files[fd]) {
			file_close(process->files[fd]);
		}
	}
}

int process_files(const struct process *process, char *text, size_t size) {
	static const char *const kinds[] = {"socket", "epoll",	  "signals", "pipe",
					    "name",   "datagram", "file",    "pidfd"};
	int n = 0;
	size_t at = 0;
	text[0] = '\0';
	for (int fd = 0; fd < FILES_MAX; fd++) {
		if (process->files[fd] && at < size) {
			n++;
			at += (size_t)snprintf(text + at, size - at, " %d:%s", fd,
					       kinds[process->files[fd]->kind]);
		}
	}
	return n;
}

void kernel_run(uint64_t until) {
	while (!is_over) {
		bool any = events_planned();
		for (int i = 0; i < n_processes && !any; i++) {
			any = is_left(&processes[i]);
		}
		if (!any || !events_next(until)) {
			return;
		}
	}
}
