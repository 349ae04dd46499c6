// SPDX-License-Identifier: Apache-2.0

#include "measure/usage.h"

#include "base/entries.h"
#include "base/file.h"
#include "base/num.h"
#include "base/proc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/** The largest number of processes in a worker's tree. */
#define TREE_MAX 4096

/** The contents of a small file of /proc, or its beginning. */
struct small {
	char text[4096];
	size_t len;
};

/** The size of the longest path here, with its NUL. */
#define PATH_BYTES 256

/** Format a path. Returns false if it is too long. */
__attribute__((format(printf, 2, 3))) static bool make_path(char path[PATH_BYTES], const char *format, ...) {
	va_list args;
	va_start(args, format);
	int len = vsnprintf(path, PATH_BYTES, format, args);
	va_end(args);
	return len < PATH_BYTES;
}

__attribute__((format(printf, 2, 3))) static bool read_small(struct small *out, const char *format, ...) {
	char path[PATH_BYTES];
	va_list args;
	va_start(args, format);
	int len = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	const ssize_t n =
		len < PATH_BYTES ? file_read_small(path, out->text, sizeof(out->text)) : -ENAMETOOLONG;
	out->len = n == -EFBIG ? sizeof(out->text) - 1 : n > 0 ? (size_t)n : 0;
	return out->len > 0;
}

static struct str text_of(const struct small *small) {
	return (struct str){small->text, small->len};
}

bool usage_read_field(struct str text, const char *name, uint64_t *out) {
	struct str line, label = str_of(name);
	while (str_cut(&text, '\n', &line)) {
		if (!str_starts(line, label)) {
			continue;
		}
		struct str value = str_trim(str_from(line, label.len));
		value.len = str_find(value, ' ');
		return num_read(value, UINT64_MAX, out) == 0;
	}
	return false;
}

/** The processes that were found. */
struct tree {
	const char *proc;
	/** Each process once, parents before their children. */
	pid_t pids[TREE_MAX];
	size_t n;
	/** A thread of theirs is in state D. */
	bool waits;
};

static void add(void *arg, pid_t pid) {
	struct tree *tree = arg;
	for (size_t i = 0; i < tree->n; i++) {
		if (tree->pids[i] == pid) {
			return;
		}
	}
	if (tree->n < TREE_MAX) {
		tree->pids[tree->n++] = pid;
	}
}

/** Call @each for each entry of the folder @path whose name is a number. */
static void each_number(struct tree *tree, const char *path, pid_t pid,
			void (*each)(struct tree *, pid_t, pid_t)) {
	struct entries folder;
	uint64_t number;
	entries_open(&folder, path);
	for (const char *name; (name = entries_next(&folder));) {
		if (num_read(str_of(name), INT32_MAX, &number) == 0) {
			each(tree, pid, (pid_t)number);
		}
	}
}

/** Look at a thread of @pid: its state and its children. */
static void look_at_thread(struct tree *tree, pid_t pid, pid_t thread) {
	struct small file;
	struct proc_stat stat;
	if (read_small(&file, "%s/%d/task/%d/stat", tree->proc, pid, thread) &&
	    proc_stat_parse(text_of(&file), &stat)) {
		tree->waits |= stat.state == 'D';
	}
	char path[PATH_BYTES];
	if (make_path(path, "%s/%d/task/%d/children", tree->proc, pid, thread)) {
		proc_numbers(path, add, tree);
	}
}

static void look_at_process(struct tree *tree, pid_t pid) {
	char path[PATH_BYTES];
	if (make_path(path, "%s/%d/task", tree->proc, pid)) {
		each_number(tree, path, pid, look_at_thread);
	}
}

/** If the parent of @pid is in the tree, add @pid. */
static void add_if_child(struct tree *tree, pid_t unused, pid_t pid) {
	(void)unused;
	struct small file;
	struct proc_stat stat;
	if (!read_small(&file, "%s/%d/stat", tree->proc, pid) || !proc_stat_parse(text_of(&file), &stat)) {
		return;
	}
	for (size_t i = 0; i < tree->n; i++) {
		if (tree->pids[i] == stat.parent) {
			add(tree, pid);
			return;
		}
	}
}

/** Find the process tree of @source. The root comes first. */
static void find_tree(const struct usage_source *source, struct tree *tree) {
	char path[PATH_BYTES];
	*tree = (struct tree){.proc = source->proc, .n = 0};
	add(tree, source->root);
	// The file needs CONFIG_PROC_CHILDREN. If the kernel lacks it, scan all processes until a scan finds
	// no more.
	if (make_path(path, "%s/%d/task/%d/children", source->proc, source->root, source->root) &&
	    access(path, R_OK) != 0) {
		for (size_t before = 0; before < tree->n;) {
			before = tree->n;
			each_number(tree, source->proc, 0, add_if_child);
		}
	}
	for (size_t i = 0; i < tree->n; i++) {
		bool waits = tree->waits;
		look_at_process(tree, tree->pids[i]);
		tree->waits = i == 0 && !source->with_root ? waits : tree->waits;
	}
}

static void add_memory(const struct usage_source *source, pid_t pid, struct usage *out) {
	struct small file;
	uint64_t kib, pages = 0;
	if (read_small(&file, "%s/%d/smaps_rollup", source->proc, pid) &&
	    usage_read_field(text_of(&file), "Pss:", &kib)) {
		out->memory += kib * 1024;
		return;
	}
	if (!read_small(&file, "%s/%d/statm", source->proc, pid)) {
		return;
	}
	// A zombie has no memory in either file.
	struct str rest = str_trim(text_of(&file)), field;
	if (str_cut(&rest, ' ', &field) && str_cut(&rest, ' ', &field) &&
	    num_read(field, UINT32_MAX, &pages) == 0 && pages) {
		out->memory += pages * (uint64_t)sysconf(_SC_PAGESIZE);
		out->by_rss = true;
	}
}

void usage_look(const struct usage_source *source, bool memory, struct usage *out) {
	struct tree tree;
	find_tree(source, &tree);
	*out = (struct usage){.waits = tree.waits};
	uint64_t ticks = 0;
	for (size_t i = 0; i < tree.n; i++) {
		struct small file;
		struct proc_stat stat;
		uint64_t bytes;
		bool counts = i > 0 || source->with_root;
		if (!read_small(&file, "%s/%d/stat", source->proc, tree.pids[i]) ||
		    !proc_stat_parse(text_of(&file), &stat)) {
			continue;
		}
		out->processes += counts;
		ticks += counts ? stat.ticks : stat.reaped_ticks;
		if (read_small(&file, "%s/%d/io", source->proc, tree.pids[i]) &&
		    usage_read_field(text_of(&file), "read_bytes:", &bytes)) {
			out->read_bytes += bytes;
		}
		if (memory && counts) {
			add_memory(source, tree.pids[i], out);
		}
	}
	out->cpu_ms = ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
}

size_t usage_list(const struct usage_source *source, pid_t *pids, size_t max) {
	struct tree tree;
	find_tree(source, &tree);
	size_t n = tree.n - 1;
	memcpy(pids, tree.pids + 1, (n < max ? n : max) * sizeof(*pids));
	return n;
}

uint64_t usage_memory_total(const char *proc) {
	struct small file;
	uint64_t kib;
	return read_small(&file, "%s/meminfo", proc) && usage_read_field(text_of(&file), "MemTotal:", &kib)
		       ? kib * 1024
		       : 0;
}
