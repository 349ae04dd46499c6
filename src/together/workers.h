// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The processes that the program started itself: a launcher such as torchrun ends long after its
 * first worker has failed, and perhaps first on another node. Only direct children are watched, or
 * those one level down if the program is a shell: deeper ones, such as pools and data loaders, may
 * fail without harm.
 */

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WORKERS_MAX 256

/** epoll reports a worker as its index with this bit; connections do not have it. */
#define WORKERS_BIT ((uint64_t)1 << 32)

struct worker {
	pid_t pid;
	/** A pid may be used again, but not with the same start time. */
	uint64_t start;
	/** -1: this is free. */
	int pidfd;
	/** Its exit status can be read from /proc once it has ended. */
	bool visible;
	/** It ran when it was first seen. */
	bool ran;
	/** How long it lived, when it ended, or CLOCK_NEVER, and how often its status was looked for. */
	uint64_t lived_ms;
	uint64_t ended_at;
	unsigned tries;
	char name[16];
};

struct workers {
	/** 0: it has not started, or has ended. */
	pid_t program;
	int epoll;
	uint64_t begun;
	/** When to look again, on clock_now_ms()'s clock. */
	uint64_t scan_at;
	uint32_t n;
	struct worker at[WORKERS_MAX];
};

/** How a worker ended. */
struct worker_end {
	pid_t pid;
	const char *name;
	/** As of waitpid(). */
	int status;
	uint64_t at;
	/** 0: it had ended before it was seen. */
	uint64_t lived_ms;
};

/** Watch the children of @program, by @epoll. */
void workers_begin(struct workers *w, int epoll, pid_t program);

/** The program has ended. */
void workers_end(struct workers *w);

/** Look for new children, if it is time. Returns whether there are. */
bool workers_scan(struct workers *w, uint64_t now);

/** epoll says that worker @i has ended. */
void workers_ready(struct workers *w, uint32_t i, uint64_t now);

/** Take the next whose end is known. Returns whether there is one. */
bool workers_next(struct workers *w, struct worker_end *out);

/**
 * Append what all processes do that descend from us, except @own, a child that is not the program's: "; its processes: 3 in D
 * (nfs_wait), 8 running, 2 sleeping".
 */
void workers_put_states(pid_t own, struct buf *out);
