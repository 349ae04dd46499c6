// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Reads the resource usage of a process tree from /proc. When a process reaps a child, the kernel adds the
 * child's usage to the parent's (proc(5): cutime, cstime; also /proc/PID/io). Therefore sums over the tree
 * include processes that have ended, unless their parents ignore SIGCHLD.
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
	/** Bytes read from storage, as far as the kernel reports them. Reads from caches do not count. */
	uint64_t read_bytes;
	/**
	 * Memory in bytes: PSS, which divides shared pages among processes. If `by_rss`, a process without PSS was
	 * counted by its RSS, which has shared pages in full. 0: not requested.
	 */
	uint64_t memory;
	bool by_rss;
	/** A thread was in uninterruptible sleep (state D), which is almost always a wait for storage. */
	bool waits;
};

/** The process tree to look at. */
struct usage_source {
	/** The path of /proc. Tests use another path. */
	const char *proc;
	pid_t root;
	/** The root itself counts. (Its reaped children always count.) */
	bool with_root;
};

/**
 * Read the tree's usage now. @memory: also its memory, which is slower. Processes that end meanwhile do not
 * count.
 */
void usage_look(const struct usage_source *source, bool memory, struct usage *out);

/** Write at most @max descendants of the root to @pids. Returns how many descendants there are. */
size_t usage_list(const struct usage_source *source, pid_t *pids, size_t max);

/** Read MemTotal from /proc/meminfo, in bytes; 0: unknown. */
uint64_t usage_memory_total(const char *proc);
