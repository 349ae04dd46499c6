// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Resource usage of a process tree, from /proc. When a process reaps a child, the kernel adds the
 * child's usage to the parent's (proc(5): cutime, cstime; also /proc/PID/io). So sums over the tree
 * include processes that have already ended, unless their parents ignore SIGCHLD.
 */

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** Read the number after @name ("Pss:"), at the beginning of a line. Returns false if there is none. */
bool usage_read_field(struct str text, const char *name, uint64_t *out);

struct usage {
	/** The number of processes. */
	uint32_t processes;
	/** CPU time, in milliseconds. */
	uint64_t cpu_ms;
	/** Bytes read from storage, as far as the kernel reports them; reads from caches do not count. */
	uint64_t read_bytes;
	/**
	 * Memory in bytes: PSS, which divides shared pages among processes; with `by_rss`, RSS,
	 * which counts them fully for each process. 0 if not requested.
	 */
	uint64_t memory;
	bool by_rss;
	/** A thread was in uninterruptible sleep (state D): almost always a wait for storage. */
	bool waits;
};

/** The process tree to look at. */
struct usage_source {
	/** The path of /proc; tests use another one. */
	const char *proc;
	pid_t root;
	/** Whether the root itself counts. Its reaped children always count. */
	bool with_root;
};

/** Get the tree's usage now; @memory, which is slower, too. Processes that end meanwhile are left out. */
void usage_look(const struct usage_source *source, bool memory, struct usage *out);

/** Write at most @max descendants of the root to @pids. Returns how many there are. */
size_t usage_list(const struct usage_source *source, pid_t *pids, size_t max);

/** MemTotal from /proc/meminfo in bytes; 0: unknown. */
uint64_t usage_memory_total(const char *proc);
