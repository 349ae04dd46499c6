// SPDX-License-Identifier: Apache-2.0

#include "srun/relay.h"

#include "base/clock.h"
#include "base/num.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/** So many bytes of a line are examined: srun's lines are short, because it abbreviates long lists. */
#define REPORT_MAX 1024

/**
 * How long to wait for the end of the stream, in ms. Another process may have inherited stderr and keep it
 * open.
 */
#define END_MS 2000

/**
 * What the relay process reports. It uses memory, not a pipe, because init closes descriptors that it does not
 * know.
 */
struct relay_shared {
	/** Set to 1, with a wake-up, when everything has been relayed. */
	_Atomic uint32_t done;
	/** The exit status in the first report; -1: none. */
	atomic_int first;
};

/**
 * Find the signal that ended a task by srun's @sentence: that of glibc's strsignal(); or, if the kernel sent KILL at the
 * step's memory limit, "Out Of Memory". Returns the signal; 0: unknown.
 */
static int find_signal(struct str sentence) {
	sentence.len = str_find(sentence, '(');
	sentence = str_trim(sentence);
	if (str_is(sentence, "Out Of Memory")) {
		return SIGKILL;
	}
	if (str_is(sentence, "Floating point exception")) {
		return SIGFPE; // musl's strsignal() has other words
	}
	int number = 1;
	while (number < 32 && !str_is(sentence, strsignal(number))) {
		number++;
	}
	return number < 32 ? number : 0;
}

int relay_report(struct str line) {
	static const char exited[] = ": Exited with exit code ";
	uint64_t status;
	line = str_trim(line);
	if (!str_starts(line, STR("srun: error: "))) {
		return -1;
	}
	const char *task = memmem(line.p, line.len, ": task", 6);
	if (!task) {
		return -1;
	}
	struct str rest = str_from(line, (size_t)(task + 2 - line.p));
	rest = str_from(rest, str_find(rest, ':'));
	if (str_starts(rest, STR(exited))) {
		return num_read(str_from(rest, sizeof(exited) - 1), 255, &status) < 0 ? -1 : (int)status;
	}
	// "task 0: Killed", "tasks 0-3: Segmentation fault (core dumped)"
	int signal = rest.len > 2 ? find_signal(str_from(rest, 2)) : -1;
	return signal > 0 ? 128 + signal : signal;
}

/** The line that is being read. */
struct partial_line {
	char line[REPORT_MAX];
	size_t len;
	struct relay_shared *shared;
};

/** Look for reports of tasks in @text, the next part of the stream, and keep the status of the first. */
static void look(struct partial_line *partial, struct str text) {
	for (size_t i = 0; i < text.len; i++) {
		if (text.p[i] != '\n') {
			if (partial->len < sizeof(partial->line)) {
				partial->line[partial->len++] = text.p[i];
			}
			continue;
		}
		int report = relay_report((struct str){partial->line, partial->len});
		if (report >= 0 && atomic_load(&partial->shared->first) < 0) {
			atomic_store(&partial->shared->first, report);
		}
		partial->len = 0;
	}
}

/** Relay @fd to stderr until end of file. If writing fails, drop the text, because srun must not block. */
static void hand_on(int fd, struct relay_shared *shared) {
	static struct partial_line partial;
	static char block[16384];
	partial.shared = shared;
	for (;;) {
		ssize_t n = read(fd, block, sizeof(block));
		if (n == 0 || (n < 0 && errno != EINTR)) {
			return;
		}
		struct str text = {block, n > 0 ? (size_t)n : 0};
		look(&partial, text);
		while (text.len) {
			ssize_t written = write(2, text.p, text.len);
			if (written < 0 && errno != EINTR) {
				break;
			}
			text = str_from(text, written > 0 ? (size_t)written : 0);
		}
	}
}

/** Be the relay process, until end of file. */
static _Noreturn void be_relay(const int ends[2], struct relay_shared *shared) {
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	// Free stdin and stdout: a process that waits for their end of file waits for the workload, not for us.
	dup2(ends[0], 0);
	close(1);
	close(ends[0]);
	close(ends[1]);
	// If the kernel has close_range(), also close the descriptors that the caller left open.
	syscall(SYS_close_range, 3, ~0U, 0U);
	hand_on(0, shared);
	atomic_store(&shared->done, 1);
	syscall(SYS_futex, &shared->done, FUTEX_WAKE, 1, NULL, NULL, 0);
	_exit(0);
}

/**
 * Start the relay process as a grandchild, because init must not find it among our children: it would wait for it, or end
 * it as a leftover. Returns 0 or a negative errno.
 */
static int start_apart(const int ends[2], struct relay_shared *shared) {
	pid_t pid = fork();
	if (pid == 0) {
		setsid();
		pid = fork();
		if (pid == 0) {
			be_relay(ends, shared);
		}
		_exit(pid < 0 ? 1 : 0);
	}
	int status = 0;
	if (pid < 0) {
		return -errno;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	return status == 0 ? 0 : -EAGAIN;
}

int relay_start(struct relay *relay, struct err *err) {
	int ends[2], r = 0;
	relay->shared = NULL;
	struct relay_shared *shared =
		mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) {
		return err_set(err, ENOMEM, "srun's messages cannot be relayed: there is no memory to share");
	}
	atomic_store(&shared->first, -1);
	if (pipe2(ends, O_CLOEXEC) < 0) {
		r = -errno;
		munmap(shared, sizeof(*shared));
		return err_set(err, -r, "srun's messages cannot be relayed: no pipe can be made: %s",
			       strerror(-r));
	}
	r = start_apart(ends, shared);
	r = r == 0 && dup2(ends[1], 2) < 0 ? -errno : r;
	close(ends[0]);
	close(ends[1]);
	if (r < 0) {
		munmap(shared, sizeof(*shared));
		return err_set(err, -r, "srun's messages cannot be relayed: no process can be started: %s",
			       strerror(-r));
	}
	relay->shared = shared;
	return 0;
}

int relay_end(struct relay *relay, int status) {
	struct relay_shared *shared = relay->shared;
	if (!shared) {
		return status;
	}
	const uint64_t until = clock_now_ms() + END_MS;
	close(2);
	// A futex wait may end early, by a signal or for no reason.
	for (uint64_t now = until - END_MS; now < until && !atomic_load(&shared->done);
	     now = clock_now_ms()) {
		const struct timespec limit = clock_timespec(until - now);
		syscall(SYS_futex, &shared->done, FUTEX_WAIT, 0, &limit, NULL, 0);
	}
	int first = atomic_load(&shared->first);
	return status > 128 && first > 0 ? first : status;
}
