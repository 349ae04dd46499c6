// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * What a tree of processes uses, from /proc: the descendants of this process, or of another. What a process has used is added to its
 * parent when that reaps it (proc(5): cutime, cstime; the kernel does likewise with /proc/PID/io), so that sums over a tree lose nothing
 * of those that came and went, unless their parents ignore them.
 */

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** What is read of a process or thread in /proc/PID/stat. */
struct proc_stat {
	pid_t pid;
	pid_t parent;
	char state;
	/** User's and system's, with those of its children that it has reaped, in clock ticks. */
	uint64_t ticks;
};

/** Read it. Names may have blanks and brackets in them. Returns false where it is not understood. */
bool usage_read_stat(struct str text, struct proc_stat *out);

/** Read the number behind @name, such as "Pss:" or "read_bytes:", at the beginning of a line. Returns false where there is none. */
bool usage_read_field(struct str text, const char *name, uint64_t *out);

struct usage {
	/** How many processes. */
	uint32_t processes;
	/** CPU time, in milliseconds. */
	uint64_t cpu_ms;
	/** Bytes that storage had to deliver, as far as the kernel tells us; caches are not in it. */
	uint64_t read_bytes;
	/** Bytes of memory: shared pages counted in parts (PSS); where `by_rss` is set, in full for each process. 0 where it was not asked for. */
	uint64_t memory;
	bool by_rss;
	/** A thread was waiting in the kernel, not to be interrupted: for storage, nearly always. */
	bool waits;
};

/** Where to look. */
struct usage_source {
	/** The folder "/proc"; tests have others. */
	const char *proc;
	pid_t root;
	/** Whether the root itself counts. What it has reaped counts always. */
	bool with_root;
};

/** Look at the tree now; at its memory only if @memory, since that takes the kernel longer. What is gone meanwhile is left out. */
void usage_look(const struct usage_source *source, bool memory, struct usage *out);

/**
 * List the root's descendants, at most @max, into @pids. Returns how many there are, perhaps more than @max.
 */
size_t usage_list(const struct usage_source *source, pid_t *pids, size_t max);

/** MemTotal of /proc/meminfo in bytes; 0: not known. */
uint64_t usage_memory_total(const char *proc);
