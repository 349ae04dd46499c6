// SPDX-License-Identifier: Apache-2.0

#include "together/look.h"

#include "base/aside.h"
#include "base/clock.h"
#include "base/entries.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/**
 * The number of bits. The hash of a file's name, size and time selects one bit. Two files may share a bit:
 * with 1,000 files, one change in 260 is overlooked, but not the next change of that file.
 */
#define MARKS (1u << 18)

/** A file's time is plausible up to so much after our clock, because the file server has its own clock. */
#define AHEAD_NS (UINT64_C(300) * 1000000000)

/** The bits of the last answered look, and of the current one: `half` of struct look says which is which. */
struct marks {
	uint64_t bits[2][MARKS / 64];
};

// One write() to a pipe is atomic up to PIPE_BUF bytes, so the reader gets a whole answer.
_Static_assert(sizeof(struct look_answer) <= PIPE_BUF, "one write to a pipe");

/** The time of a file in ns since 1970; 0: it is not plausible: before 1970, or far in the future. */
static uint64_t time_of(const struct stat *info) {
	const struct timespec *at = &info->st_mtim;
	const uint64_t ns = (uint64_t)at->tv_sec * 1000000000 + (uint64_t)at->tv_nsec;
	const uint64_t most = clock_wall_ms() * 1000000 + AHEAD_NS;
	return at->tv_sec >= 0 && (uint64_t)at->tv_sec <= most / 1000000000 && ns <= most ? ns : 0;
}

/**
 * Mark one file, and add it to @answer if the last look did not mark it. Files are compared one by one, so
 * that a file with a later time, perhaps another user's, does not hide a change of this one.
 */
static void see(struct look *look, const char *folder, const char *name, struct look_answer *answer) {
	char path[PATH_MAX];
	struct stat info;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (stat(path, &info) < 0) {
		return;
	}
	const uint64_t at = time_of(&info);
	uint64_t hash = hash_mix(hash_text(str_of(name)) ^ (uint64_t)info.st_size, hash_key);
	hash = hash_mix(hash ^ at, hash_key);
	const uint64_t bit = UINT64_C(1) << (hash % 64);
	const size_t word = hash / 64 % (MARKS / 64);
	look->marks->bits[!look->half][word] |= bit;
	if (!(look->marks->bits[look->half][word] & bit)) {
		answer->n_changed++;
		answer->newest = at > answer->newest ? at : answer->newest;
	}
}

static void see_all(struct look *look, const struct pattern *pattern, struct look_answer *answer) {
	struct stat info;
	struct entries all;
	memset(look->marks->bits[!look->half], 0, sizeof(look->marks->bits[0]));
	if (stat(pattern->folder, &info) < 0 || !S_ISDIR(info.st_mode)) {
		answer->error = errno ? errno : ENOTDIR;
		return;
	}
	if (str_find(pattern->name, '*') == pattern->name.len) {
		see(look, pattern->folder, pattern->name.p, answer);
		return;
	}
	entries_open(&all, pattern->folder);
	answer->error = all.fd < 0 ? errno : 0;
	for (const char *name; (name = entries_next(&all));) {
		if (pattern_matches(pattern, name)) {
			see(look, pattern->folder, name, answer);
		}
	}
}

static _Noreturn void child(struct look *look, const struct pattern *pattern, int pipe_fd) {
	struct look_answer answer = {.error = 0};
	errno = 0;
	see_all(look, pattern, &answer);
	_exit(write(pipe_fd, &answer, sizeof(answer)) == sizeof(answer) ? 0 : 1);
}

/** Reap the child, if it has ended. Returns whether there is no child any more. */
static bool reap_child_of(struct look *look) {
	if (look->pid > 0 && waitpid(look->pid, NULL, WNOHANG | __WALL) == 0) {
		return false;
	}
	look->pid = 0;
	return true;
}

int look_begin(struct look *look, const struct pattern *pattern) {
	int fds[2];
	if (!reap_child_of(look)) {
		return -EBUSY;
	}
	if (!look->marks) {
		void *memory = mmap(NULL, sizeof(*look->marks), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED) {
			return -errno;
		}
		look->marks = memory;
	}
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0) {
		return -errno;
	}
	const pid_t pid = fork_aside(fds[1]);
	if (pid == 0) {
		child(look, pattern, fds[1]);
	}
	const int code = errno;
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return -code;
	}
	look->pid = pid;
	look->fd = fds[0];
	return 0;
}

int look_read(struct look *look, struct look_answer *answer) {
	const ssize_t n = read(look->fd, answer, sizeof(*answer));
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		return -EAGAIN;
	}
	close(look->fd);
	look->fd = -1;
	look->half = n == sizeof(*answer) ? !look->half : look->half;
	reap_child_of(look);
	return n == sizeof(*answer);
}

void look_end(struct look *look) {
	if (look->fd >= 0) {
		close(look->fd);
		look->fd = -1;
	}
	if (!reap_child_of(look)) {
		kill(look->pid, SIGKILL);
		reap_child_of(look);
	}
}
