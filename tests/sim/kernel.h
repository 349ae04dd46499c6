// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The simulated kernel: processes as fibers, hosts, a network, clocks, signals and programs, in one process of the real
 * machine. The linker puts its functions in the place of the C library's (functions.txt).
 *
 *     events.c     what happens when; the time
 *     fiber.c      switching between processes
 *     process.c    processes: starting, signals, being stopped and killed; system calls that fail
 *     file.c       descriptors, poll() and epoll
 *     network.c    TCP between hosts: late, in pieces, cut off, reset
 *     sockets.c    the functions for sockets
 *     calls.c      other functions: reading and writing, signals, clocks, memory
 *     lookup.c     names of hosts
 *     programs.c   programs that nodes start: /proc, pidfds, files that they write
 *
 * Times are in microseconds.
 */

#include "choice.h"

#include <sys/types.h>

#define NEVER UINT64_MAX
#define MS    ((uint64_t)1000)
#define S     ((uint64_t)1000000)

#define MACHINES_MAX  12
#define PROCESSES_MAX 24
#define FILES_MAX     128

/** The kinds of system calls, as far as they can fail. */
enum call {
	CALL_NONE,
	CALL_SOCKET,
	CALL_BIND,
	CALL_LISTEN,
	CALL_CONNECT,
	CALL_ACCEPT,
	CALL_OPTION,
	CALL_SEND,
	CALL_RECEIVE,
	CALL_POLL,
	CALL_EPOLL_CREATE,
	CALL_EPOLL_CHANGE,
	CALL_EPOLL_WAIT,
	CALL_SIGNALS,
	CALL_RANDOM,
	CALL_LOOK_UP,
	CALL_OPEN,
	CALL_PIDFD,
	N_CALLS
};

struct file;

enum process_state { PROCESS_READY, PROCESS_WAITING, PROCESS_PAUSED, PROCESS_DONE, PROCESS_DEAD };

struct process {
	int id, host;
	enum process_state state;
	const char *name;
	void (*main)(struct process *process);
	void *context;
	struct file *files[FILES_MAX];
	/** RLIMIT_NOFILE. */
	uint64_t soft, hard;
	/** Signals: bit N-1. */
	uint64_t pending, mask;
	int killed_by;
	/** Its clocks are so much ahead, in ms: the monotonic one, and that for people. */
	uint64_t clock_ahead;
	int64_t wall_ahead;
	/** System calls so far, and at the beginning of this second. */
	uint32_t calls, calls_before;
	uint64_t second;
	/** Its calls of this kind fail with this errno until then; 0 as time: the next one only. */
	enum call fails;
	int fails_with;
	uint64_t fails_until;
	/** Bytes from mmap() that were not given back. */
	size_t mapped;
	/** For how long it was stopped in all. */
	uint64_t stopped, stopped_until;
	uint64_t ended_at;
	/** Random numbers, connections and wake-ups so far: their choices are numbered. */
	uint32_t n_random, n_wakes;

	/** For fiber.c and events.c. */
	struct fiber *fiber;
	uint32_t turn;
	int errno_kept;
};

/** What the network and the scheduler are like in this job. Shares are of 1000. */
struct weather {
	/** Each piece takes `latency` and up to `jitter` more; `late` of them up to `late_by` more. */
	uint64_t latency, jitter, late, late_by;
	/** How often what is sent comes in pieces. */
	uint64_t split;
	/** How often a process is interrupted before a system call, and for how long at most. */
	uint64_t interrupt, interrupt_most;
	/** What a system call takes. */
	uint64_t call;
	/** How long a look-up takes at most; names do not resolve before `names_from`. */
	uint64_t lookup, names_from;
	/** What a connection holds that is not read. */
	uint32_t window;
	/** The kernel does not list a process's children; and how many processes it killed for lack of memory. */
	bool no_children;
	uint32_t oom_kills;
};

/** How long the machines ran before. */
#define UP_FOR (1000000 * S)

/** A process that makes so many system calls within a second waits for nothing. */
#define CALLS_MOST 10000
extern uint32_t calls_most;

extern struct weather weather;
extern uint64_t time_now;
extern struct process processes[PROCESSES_MAX];
extern int n_processes;
/** The process that runs, or NULL. */
extern struct process *current;
extern uint64_t n_calls;
/** A number that follows from all that happened. Two jobs with the same one went alike. */
extern uint64_t course;

void kernel_begin(void);
/** Run until no process is left that is not done, or @until. */
void kernel_run(uint64_t until);

struct process *process_start(uint64_t at, int host, const char *name, void (*main)(struct process *),
			      void *context);
bool process_is_alive(const struct process *process);
void process_signal(struct process *process, int number);
/** kill -9: the kernel closes what it has. */
void process_kill(struct process *process);
/** It does not run for so long. */
void process_stop(struct process *process, uint64_t us);
/** The running one ends here. */
_Noreturn void process_exit(void);
/** The running one sleeps. */
void process_sleep(uint64_t us);
/** Its next call of the kind @call fails with @code, or all until @until. */
void process_fail(struct process *process, enum call call, int code, uint64_t until);
/** What errno may be, by 0 to 3; a call has at least one. */
int call_errno(enum call call, unsigned which);
/** Its open descriptors, as text. Returns how many there are. */
int process_files(const struct process *process, char *text, size_t size);

/** Call @what(@a) at @at. */
void at_time(uint64_t at, void (*what)(void *), void *a);

/** The machine is gone, without a word; it is there again, with nothing on it. */
void host_down(int host);
void host_up(int host);
uint32_t host_address(int host);
/** From now on for @us, hosts in @mask do not reach the others. */
void network_cut(uint64_t us, uint32_t mask);
/** Reset all connections between these hosts, on both sides. Returns how many. */
int network_reset(int a, int b);

/** What frames are called, and what the first bytes of a connection are. */
#define FRAME_GREETING 200
#define FRAME_MEET     201
const char *frame_name(uint8_t type);

/** What the scene watches; each may be NULL. */
struct watchers {
	/** Before each system call. */
	void (*on_call)(struct process *process);
	/** A frame is about to be sent, was sent, and its last byte has arrived. */
	void (*on_send)(struct process *from, int to_host, uint8_t type);
	void (*on_sent)(struct process *from, int to_host, uint8_t type);
	void (*on_arrival)(int from_host, struct process *to, uint8_t type);
	/** The end of a connection has come. */
	void (*on_end)(int from_host, struct process *to);
	/** A poll() returns. */
	void (*on_poll)(struct process *process);
	/** The host with this name; -1: there is none. */
	int (*host_of)(const char *name);
};
extern struct watchers watchers;

// Programs.

/** A process that a node starts, or one that its program starts. */
struct program_process {
	int pid, parent;
	int host;
	char name[16];
	/** When it started, and ended; NEVER: it runs. */
	uint64_t from, to;
	/** As of waitpid(). */
	int status;
	/** Its parent has taken its status; it waits for the kernel. */
	bool reaped, blocked;
};

/** Start one now. */
struct program_process *program_start(struct process *node, int parent, const char *name);
void program_end(struct program_process *program, int status);
/** How many of a host that started at @since or later run at @at; 0: or have run. @blocked: those that wait for the kernel. */
unsigned programs_alive(int host, uint64_t since, uint64_t at, bool blocked);
/** The file at /progress of @host is written now. */
void file_written(int host);

// For people.

extern bool tracing;
void trace(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** A sentence is broken. The first one counts. */
void broken(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Its name, and what was seen; "" if all holds. */
extern char broken_name[60], broken_text[500];

/** Memory until the next job. */
void *job_memory(size_t size);
