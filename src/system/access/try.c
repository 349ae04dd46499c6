// SPDX-License-Identifier: Apache-2.0

#include "access/try.h"

#include "base/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

/** A file of so many bytes needs space on the device, and a quota. */
#define WRITTEN_BYTES 4096

static struct try_answer failed(enum try_step step) {
	return (struct try_answer){step, errno};
}

/** Write WRITTEN_BYTES to @fd, and to what is below the cache. Some file systems cannot tell. Returns 0; -1 with errno. */
static int fill_file(int fd) {
	static const char bytes[WRITTEN_BYTES];
	size_t done = 0;
	while (done < sizeof(bytes)) {
		const ssize_t n = write(fd, bytes + done, sizeof(bytes) - done);
		if (n < 0 && errno != EINTR) {
			return -1;
		}
		done += n > 0 ? (size_t)n : 0;
	}
	return fsync(fd) < 0 && errno != EINVAL && errno != EROFS ? -1 : 0;
}

/** Make, write and remove a file in the folder. */
static struct try_answer try_write(int folder) {
	char name[40];
	uint64_t random = 0;
	struct try_answer answer = {TRY_ALL_WELL, 0};
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0) {
		random = (uint64_t)getpid();
	}
	snprintf(name, sizeof(name), ".distinit-%016" PRIx64, random);
	const int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		return failed(TRY_CREATE);
	}
	if (fill_file(fd) < 0) {
		answer = failed(TRY_WRITE);
	}
	if (close(fd) < 0 && answer.step == TRY_ALL_WELL) {
		answer = failed(TRY_WRITE);
	}
	if (unlinkat(folder, name, 0) < 0 && answer.step == TRY_ALL_WELL) {
		answer = failed(TRY_REMOVE);
	}
	return answer;
}

static struct try_answer try_list(const char *path) {
	struct entries all;
	entries_open(&all, path);
	if (all.fd < 0) {
		return failed(TRY_OPEN);
	}
	errno = 0;
	const bool any = entries_next(&all);
	return any || !errno ? (struct try_answer){TRY_ALL_WELL, 0} : failed(TRY_LIST);
}

static _Noreturn void child(const char *path, bool write_it, int pipe_fd) {
	const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct try_answer answer = folder < 0 ? failed(TRY_OPEN)
				   : write_it ? try_write(folder)
					      : try_list(path);
	_exit(write(pipe_fd, &answer, sizeof(answer)) == sizeof(answer) ? 0 : 1);
}

int folder_try_begin(const struct view *view, const char *path, bool write_it, struct folder_try *out) {
	int fds[2];
	*out = (struct folder_try){-1, 0};
	if (!view) {
		return -EPERM;
	}
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0) {
		return -errno;
	}
	const pid_t pid = fork_aside(fds[1]);
	if (pid == 0) {
		child(path, write_it, fds[1]);
	}
	const int code = errno;
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return -code;
	}
	*out = (struct folder_try){fds[0], pid};
	return 0;
}

int folder_try_read(struct folder_try *folder, struct try_answer *out) {
	size_t got = 0;
	ssize_t n;
	while (got < sizeof(*out) && (n = read(folder->fd, (char *)out + got, sizeof(*out) - got)) != 0) {
		if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
			// The child writes its answer at once.
			return -EAGAIN;
		}
		if (n < 0) {
			break;
		}
		got += (size_t)n;
	}
	// It has closed all that could block, and exits.
	waitpid(folder->pid, NULL, __WALL);
	folder->pid = 0;
	folder_try_end(folder);
	return got == sizeof(*out) ? 0 : -ECHILD;
}

void folder_try_end(struct folder_try *folder) {
	if (folder->fd >= 0) {
		close(folder->fd);
		folder->fd = -1;
	}
	if (folder->pid > 0) {
		kill(folder->pid, SIGKILL);
		waitpid(folder->pid, NULL, WNOHANG | __WALL);
		folder->pid = 0;
	}
}
