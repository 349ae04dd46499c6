// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Watches the processes that the program started itself: a launcher such as torchrun ends long after its
 * first worker has failed, and the launcher of another node may end before it. Only direct children are
 * watched, or their children if the program is a shell. Deeper processes, such as pools and data loaders, may
 * fail without harm.
 */

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WORKERS_MAX 256

/** epoll's data for a worker: its index, with this bit. The data of connections do not have the bit. */
#define WORKERS_BIT ((uint64_t)1 << 32)

struct worker {
	pid_t pid;
	/**
	 * Its start time, as in /proc/PID/stat: if the pid is used again, the other process has another start
	 * time.
	 */
	uint64_t start;
	/** Readable when the worker has ended; -1: this slot is free. */
	int pidfd;
	/** We may read its exit status from /proc once it has ended. */
	bool visible;
	/** It had not ended when it was first seen. */
	bool ran;
	/** How long it lived, in ms; 0: it had ended before it was seen. */
	uint64_t lived_ms;
	/** When it ended, on clock_now_ms()'s clock; CLOCK_NEVER: it runs. */
	uint64_t ended_at;
	/** How often its exit status was looked for. */
	unsigned tries;
	char name[16];
};

struct workers {
	/** 0: the program has not started, or has ended. */
	pid_t program;
	int epoll;
	/** When workers_begin() was called, and when to look for new children; on clock_now_ms()'s clock. */
	uint64_t begun;
	uint64_t scan_at;
	/** The number of slots that are in use or were. */
	uint32_t n;
	struct worker at[WORKERS_MAX];
};

/** How a worker ended. */
struct worker_end {
	pid_t pid;
	const char *name;
	/** As from waitpid(). */
	int status;
	/** When it ended, on clock_now_ms()'s clock. */
	uint64_t at;
	/** 0: the worker had ended before it was seen. */
	uint64_t lived_ms;
};

/** Begin to watch the children of @program. @epoll reports their ends. */
void workers_begin(struct workers *w, int epoll, pid_t program);

/** Stop watching. */
void workers_end(struct workers *w);

/** Look for new children, if that is due. Returns whether there are any that run. */
bool workers_scan(struct workers *w, uint64_t now);

/** epoll reports that worker @i has ended. */
void workers_ready(struct workers *w, uint32_t i, uint64_t now);

/**
 * Write the next worker that has ended, and whose exit status is known, to *@out. Returns whether there is
 * one.
 */
bool workers_next(struct workers *w, struct worker_end *out);

/**
 * Append the states of all our descendants except @own, a child of distinit itself: "; its processes: 3 in D
 * (nfs_wait), 8 running, 2 sleeping".
 */
void workers_put_states(pid_t own, struct buf *out);
