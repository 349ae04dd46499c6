// SPDX-License-Identifier: Apache-2.0

#include "base/proc.h"

#include "base/entries.h"
#include "base/file.h"
#include "base/num.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/** The last field that must be there, and the last of all: proc(5). */
#define FIELD_NEEDED 17
#define FIELD_LAST   52

bool proc_stat_parse(struct str text, struct proc_stat *out) {
	uint64_t pid, field[FIELD_LAST + 1] = {0};
	const size_t open = str_find(text, '(');
	size_t close = text.len;
	while (close > 0 && text.p[close - 1] != ')') {
		close--;
	}
	// The name may contain blanks and parentheses.
	if (close < open + 2 || num_read(str_trim((struct str){text.p, open}), INT32_MAX, &pid) < 0) {
		return false;
	}
	struct proc_stat stat = {.pid = (pid_t)pid};
	const size_t len = close - open - 2;
	memcpy(stat.name, text.p + open + 1, len < sizeof(stat.name) ? len : sizeof(stat.name) - 1);
	struct str rest = str_trim(str_from(text, close)), word;
	unsigned i = 3;
	for (; i <= FIELD_LAST && str_cut(&rest, ' ', &word); i++) {
		const bool counts = i == 4 || (i >= 14 && i <= FIELD_NEEDED);
		if (i == 3 && word.len) {
			stat.state = word.p[0];
		} else if (num_read(word, UINT64_MAX >> 3, &field[i]) < 0 && counts) {
			return false;
		}
	}
	if (i <= FIELD_NEEDED) {
		return false;
	}
	stat.parent = (pid_t)field[4];
	stat.group = (pid_t)field[5];
	stat.session = (pid_t)field[6];
	stat.ticks = field[14] + field[15] + field[16] + field[17];
	stat.reaped_ticks = field[16] + field[17];
	stat.start = field[22];
	stat.start_code = field[26];
	stat.exit_code = field[FIELD_LAST];
	*out = stat;
	return true;
}

bool proc_stat_read(pid_t pid, struct proc_stat *out) {
	char path[32], text[1024];
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	const ssize_t n = file_read_small(path, text, sizeof(text));
	return n > 0 && proc_stat_parse(str_trim((struct str){text, (size_t)n - 1}), out);
}

bool proc_numbers(const char *path, void (*each)(void *, pid_t), void *arg) {
	char part[512];
	pid_t pid = 0;
	ssize_t n;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return false;
	}
	while ((n = read(fd, part, sizeof(part))) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			if (part[i] >= '0' && part[i] <= '9') {
				pid = pid * 10 + (part[i] - '0');
				continue;
			}
			if (pid > 0) {
				each(arg, pid);
			}
			pid = 0;
		}
	}
	close(fd);
	return n == 0;
}

/** Whether an entry of @text begins with @start. Entries are NUL-terminated; the last may be cut. */
static bool has_entry(struct str text, struct str start) {
	struct str entry;
	while (str_cut(&text, '\0', &entry)) {
		if (str_starts(entry, start)) {
			return true;
		}
	}
	return false;
}

int proc_began_with(pid_t pid, const char *name) {
	char path[32], part[4096], wanted[64];
	size_t kept = 0;
	ssize_t n;
	bool any = false, found = false;
	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	snprintf(wanted, sizeof(wanted), "%s=", name);
	const struct str start = str_of(wanted);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return -errno;
	}
	while (!found && (n = read(fd, part + kept, sizeof(part) - kept)) > 0) {
		any = true;
		const struct str text = {part, kept + (size_t)n};
		found = has_entry(text, start);
		// The next part continues the last entry. Keep its start, as many bytes as decide whether
		// it matches.
		size_t from = text.len;
		while (from > 0 && part[from - 1] != '\0') {
			from--;
		}
		kept = text.len - from;
		kept = kept > start.len ? start.len : kept;
		memmove(part, part + from, kept);
	}
	close(fd);
	return found ? 1 : any ? 0 : -ENODATA;
}

bool proc_children(pid_t parent, void (*each)(void *arg, pid_t child), void *arg) {
	char path[80];
	struct entries tasks;
	bool listed = false;
	if (parent == PROC_OWN) {
		return proc_numbers("/proc/thread-self/children", each, arg);
	}
	snprintf(path, sizeof(path), "/proc/%d/task", (int)parent);
	entries_open(&tasks, path);
	for (const char *name; (name = entries_next(&tasks));) {
		if (name[0] != '.') {
			snprintf(path, sizeof(path), "/proc/%d/task/%.20s/children", (int)parent, name);
			listed |= proc_numbers(path, each, arg);
		}
	}
	return listed;
}
