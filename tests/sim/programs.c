// SPDX-License-Identifier: Apache-2.0

/** Programs that nodes start, as far as distinit sees them: /proc, pidfds, and a file that they write. */

#include "inside.h"

#include "together/look.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define PROGRAMS_MAX 128
#define FIRST_PID    1000
/** Nodes have lower ones. */
#define NODE_PID 100

static struct program_process programs[PROGRAMS_MAX];
static int n_programs;
/** When the file of a host was written last; 0: it is not there. */
static uint64_t written_at[MACHINES_MAX];
/** When a process looked at the files last. */
static uint64_t looked_at[PROCESSES_MAX];

void programs_begin(void) {
	n_programs = 0;
	memset(written_at, 0, sizeof(written_at));
	memset(looked_at, 0, sizeof(looked_at));
}

struct program_process *program_start(struct process *node, int parent, const char *name) {
	if (n_programs == PROGRAMS_MAX) {
		fprintf(stderr, "sim: too many programs\n");
		abort();
	}
	struct program_process *program = &programs[n_programs];
	*program = (struct program_process){
		.pid = FIRST_PID + n_programs++, .host = node->host, .from = time_now, .to = NEVER};
	program->parent = parent ? parent : NODE_PID + node->id;
	if (!parent) {
		// Another start begins with a look.
		looked_at[node->id] = 0;
	}
	snprintf(program->name, sizeof(program->name), "%s", name);
	return program;
}

bool programs_has_ended(const struct program_process *program) {
	return program->to != NEVER;
}

void program_end(struct program_process *program, int status) {
	if (program->to != NEVER) {
		return;
	}
	program->to = time_now;
	program->status = status;
	for (int i = 0; i < n_processes; i++) {
		for (int fd = 0; fd < FILES_MAX; fd++) {
			struct file *file = processes[i].files[fd];
			if (file && file->kind == FILE_PIDFD && file->program == program) {
				file_notify(file);
			}
		}
	}
}

unsigned programs_alive(int host, uint64_t since, uint64_t at, bool blocked) {
	unsigned n = 0;
	for (int i = 0; i < n_programs; i++) {
		const struct program_process *one = &programs[i];
		n += one->host == host && one->from >= since && (one->blocked || !blocked) &&
		     (!at || one->to > at);
	}
	return n;
}

void file_written(int host) {
	written_at[host] = time_now;
}

/** The one with @pid on this host that /proc shows, or NULL. */
static struct program_process *find(int pid) {
	const int i = pid - FIRST_PID;
	return i >= 0 && i < n_programs && programs[i].host == current->host && !programs[i].reaped
		       ? &programs[i]
		       : NULL;
}

static struct file *text_file(const char *text) {
	struct file *file = file_new(FILE_TEXT);
	file_put(file, text, (uint32_t)strlen(text));
	file->ended = true;
	return file;
}

/** Fields of a line of /proc/PID/stat that nobody reads. */
#define ZEROES_3  " 0 0 0"
#define ZEROES_17 " 0 0" ZEROES_3 ZEROES_3 ZEROES_3 ZEROES_3 ZEROES_3
#define ZEROES_25 " 0 0" ZEROES_17 ZEROES_3 ZEROES_3

static struct file *stat_file(const struct program_process *p) {
	char text[400];
	// Field 22 is its start, 26 shows that we may see it, 52 is its exit status.
	snprintf(text, sizeof(text), "%d (%s) %c %d" ZEROES_17 " %llu" ZEROES_3 " 4194304" ZEROES_25 " %d\n",
		 p->pid, p->name,
		 p->to != NEVER ? 'Z'
		 : p->blocked	? 'D'
				: 'S',
		 p->parent, (unsigned long long)(UP_FOR + p->from) / 10000, p->status);
	return text_file(text);
}

static void add_entry(struct file *folder, const char *name) {
	char bytes[sizeof(struct dirent)] = {0};
	struct dirent *entry = (void *)bytes;
	entry->d_reclen = (unsigned short)((offsetof(struct dirent, d_name) + strlen(name) + 8) & ~(size_t)7);
	strcpy(entry->d_name, name);
	file_put(folder, bytes, entry->d_reclen);
}

static struct file *all_pids(void) {
	struct file *folder = file_new(FILE_TEXT);
	for (int i = 0; i < n_programs; i++) {
		char name[16];
		snprintf(name, sizeof(name), "%d", programs[i].pid);
		if (find(programs[i].pid)) {
			add_entry(folder, name);
		}
	}
	return folder;
}

static struct file *children_file(int parent) {
	char text[1024] = "";
	size_t at = 0;
	for (int i = 0; i < n_programs; i++) {
		if (programs[i].parent == parent && find(programs[i].pid)) {
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%d ", programs[i].pid);
		}
	}
	return text_file(text);
}

struct file *programs_open(const char *path) {
	if (strcmp(path, "/proc") == 0) {
		return all_pids();
	}
	char *rest = NULL;
	const int pid = strncmp(path, "/proc/", 6) == 0 ? (int)strtol(path + 6, &rest, 10) : 0;
	if (!find(pid)) {
		errno = ENOENT;
		return NULL;
	}
	if (strcmp(rest, "/stat") == 0) {
		return stat_file(find(pid));
	}
	if (strcmp(rest, "/wchan") == 0) {
		return text_file("nfs_wait");
	}
	if (strcmp(rest, "/task") == 0) {
		struct file *folder = file_new(FILE_TEXT);
		char name[16];
		snprintf(name, sizeof(name), "%d", pid);
		add_entry(folder, ".");
		add_entry(folder, name);
		return folder;
	}
	const char *last = strrchr(rest, '/');
	if (last && strcmp(last, "/children") == 0 && !weather.no_children) {
		return children_file(pid);
	}
	errno = ENOENT;
	return NULL;
}

int programs_pidfd(int pid) {
	const int code = enter(CALL_PIDFD);
	struct program_process *program = find(pid);
	if (code || !program) {
		errno = code ? code : ESRCH;
		return -1;
	}
	struct file *file = file_new(FILE_PIDFD);
	file->program = program;
	return file_open(file);
}

/** What a child of look.c would see: the answer is there at once. */
int __wrap_look_begin(struct look *look, const struct pattern *pattern) {
	(void)pattern;
	const uint64_t at = written_at[current->host], seen = (uint64_t)(uintptr_t)look->marks;
	struct look_answer answer = {.n_changed = at != seen,
				     .newest = at ? (at / S + 1700000000) * 1000000000 + at % S * 1000 : 0};
	enter(CALL_NONE);
	// What interrupts us on our way here is not its fault.
	const uint64_t before = looked_at[current->id];
	if (before && !weather.interrupt && !current->stopped && time_now + 5 * MS < before + 1 * S) {
		broken("looks-seldom", "%s looks again after %llu ms", current->name,
		       (unsigned long long)((time_now - before) / MS));
	}
	looked_at[current->id] = time_now;
	struct file *pipe = file_new(FILE_PIPE);
	const int fd = file_open(pipe);
	if (fd < 0) {
		return -EMFILE;
	}
	look->fd = fd;
	look->pid = 0;
	look->marks = (void *)(uintptr_t)at;
	trace("looks at its files: %s", answer.n_changed ? "one has changed" : "none has changed");
	file_put(pipe, &answer, sizeof(answer));
	file_notify(pipe);
	return 0;
}

REAL(int, fstat, int, struct stat *);
int __wrap_fstat(int fd, struct stat *out) {
	if (!current) {
		return __real_fstat(fd, out);
	}
	const struct file *file = file_at(fd);
	enter(CALL_NONE);
	if (!file) {
		return -1;
	}
	memset(out, 0, sizeof(*out));
	out->st_mode = file->kind == FILE_TEXT ? S_IFREG | 0444 : S_IFSOCK;
	return 0;
}

int __wrap_fstat64(int fd, struct stat *out) __attribute__((alias("__wrap_fstat")));

int __wrap_getpid(void) {
	return NODE_PID + current->id;
}
