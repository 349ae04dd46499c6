// SPDX-License-Identifier: Apache-2.0

#include "process/process.h"

#include "base/file.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PROC_BYTES ((size_t)64 << 10)

/**
 * Read the number in @line, base @base. If the field is not @name, or the number is invalid, *@out is
 * unchanged.
 */
static bool read_field(struct str line, struct str name, unsigned base, uint64_t *out) {
	if (!str_starts(line, name)) {
		return false;
	}
	struct str digits = str_trim(str_from(line, name.len));
	uint64_t number = 0;
	for (size_t i = 0; i < digits.len; i++) {
		char c = digits.p[i];
		unsigned digit = c >= '0' && c <= '9'	? (unsigned)(c - '0')
				 : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
							: base;
		if (digit >= base || __builtin_mul_overflow(number, base, &number) ||
		    __builtin_add_overflow(number, digit, &number)) {
			return false;
		}
	}
	if (digits.len) {
		*out = number;
	}
	return digits.len > 0;
}

void process_read_status(struct str status, struct process *out) {
	struct str line;
	uint64_t mode;
	bool ignored = false, blocked = false;
	while (str_cut(&status, '\n', &line)) {
		ignored = read_field(line, STR("SigIgn:"), 16, &out->ignored) || ignored;
		blocked = read_field(line, STR("SigBlk:"), 16, &out->blocked) || blocked;
		if (read_field(line, STR("Seccomp:"), 10, &mode) && mode <= 2) {
			out->seccomp = (int)mode;
		}
	}
	out->has_signals = ignored && blocked;
}

/**
 * Find out whether we are in a user namespace of our own: in the initial one, all ids map to themselves. Returns 1, 0
 * or NOT_KNOWN.
 */
static int read_user_namespace(struct arena *arena) {
	struct str map, word;
	if (file_read_path(arena, "/proc/self/uid_map", PROC_BYTES, &map) < 0) {
		return NOT_KNOWN;
	}
	// The first line has three numbers, padded with blanks.
	struct buf words = BUF(arena);
	map.len = str_find(map, '\n');
	while (str_word(&map, &word)) {
		buf_put(&words, word);
		buf_putc(&words, ' ');
	}
	return !str_is(buf_str(&words), "0 0 4294967295 ");
}

int process_read(struct arena *arena, const struct view *view, const struct env *env, struct process *out,
		 struct err *err) {
	struct process p = {.pid = (uint32_t)getpid(), .seccomp = NOT_KNOWN, .root_read_only = NOT_KNOWN};
	int r = credentials_read(arena, &p.has, err);
	if (r < 0) {
		return r;
	}
	struct statfs fs;
	struct rlimit limit;
	struct str status;
	if (statfs("/", &fs) == 0) {
		p.root_read_only = (fs.f_flags & ST_RDONLY) != 0;
	}
	if (prlimit(0, RLIMIT_MEMLOCK, NULL, &limit) == 0) {
		p.memlock = limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
	}
	if (file_read_path(arena, "/proc/self/status", PROC_BYTES, &status) == 0) {
		process_read_status(status, &p);
	}
	p.in_user_namespace = read_user_namespace(arena);
	p.container = container_read(view, env);
	*out = p;
	return 0;
}
