// SPDX-License-Identifier: Apache-2.0

/**
 * The child, from vfork() to execve(). It gets everything as we inherited it, except for its process group
 * and the terminal's foreground.
 */

#include "base/file.h"
#include "base/num.h"
#include "exec/exec.h"
#include "init/supervisor.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#define LISTEN_PID "LISTEN_PID="

/** What parent and child exchange: vfork() lets them share memory until execve(). */
struct start {
	struct arena *arena;
	const struct supervisor *in;
	/** A descriptor of the working directory if we have left it; -1: we are still there. */
	int folder;
	/** Where to write the digits of LISTEN_PID; NULL: there is no LISTEN_PID with our pid. */
	char *listen_pid;
	/**
	 * The status to exit with if the workload does not start; 0: it has started. Volatile, because the child
	 * writes it in shared memory, which the compiler does not expect.
	 */
	volatile int status;
	struct err *err;
};

/**
 * Whether @entry is LISTEN_PID with our own pid. Socket activation sets it to the pid of the process that it starts,
 * and the workload has another one.
 */
static bool is_our_listen_pid(const char *entry, pid_t self) {
	uint64_t pid;
	return strncmp(entry, LISTEN_PID, sizeof(LISTEN_PID) - 1) == 0 &&
	       num_read(str_of(entry + sizeof(LISTEN_PID) - 1), INT32_MAX, &pid) == 0 && (pid_t)pid == self;
}

/**
 * Make room for the workload's pid in LISTEN_PID, which may occur more than once. Remove LISTEN_PIDFDID, which
 * also identifies us and is optional. Returns where to write the digits; NULL: nowhere.
 */
static char *prepare_listen_pid(struct arena *arena, char **envp, pid_t self) {
	char *changed = NULL;
	for (char **entry = envp; *entry; entry++) {
		if (is_our_listen_pid(*entry, self)) {
			if (!changed) {
				changed = arena_alloc(arena, sizeof(LISTEN_PID) + NUM_DIGITS);
				memcpy(changed, LISTEN_PID, sizeof(LISTEN_PID) - 1);
			}
			*entry = changed;
		}
	}
	char *digits = changed ? changed + sizeof(LISTEN_PID) - 1 : NULL;
	for (char **from = envp, **to = envp; digits; from++) {
		if (!*from || strncmp(*from, "LISTEN_PIDFDID=", 15) != 0) {
			*to++ = *from;
		}
		if (!*from) {
			break;
		}
	}
	return digits;
}

/**
 * Ask the kernel for a signal when the parent dies (--pdeathsig). Returns false if that fails, or if the parent has
 * died already, so that the signal would never come.
 */
static bool follow_parent(struct start *s) {
	if (!s->in->plan.pdeathsig) {
		return true;
	}
	if (prctl(PR_SET_PDEATHSIG, (unsigned long)s->in->plan.pdeathsig) < 0) {
		err_set(s->err, errno, "--pdeathsig cannot be set: %s", strerror(errno));
		return false;
	}
	return getppid() == s->in->self;
}

/** In the child: become the workload. Returns only if that fails: the status to exit with. */
static int become_workload(struct start *s) {
	s->status = EXIT_OURS;
	if (s->listen_pid) {
		snprintf(s->listen_pid, NUM_DIGITS + 1, "%d", getpid());
	}
	if (!observe(s->in->plan.observer, EVENT_CHILD, 0, 0)) {
		terminal_enter(&s->in->terminal);
	}
	if (!follow_parent(s)) {
		return EXIT_OURS;
	}
	if (s->folder >= 0 && fchdir(s->folder) < 0) {
		err_set(s->err, errno, "the working directory cannot be entered: %s", strerror(errno));
		return EXIT_OURS;
	}
	sigaction(SIGCHLD, &s->in->plan.child_action, NULL);
	// This comes last, because from here on, signals are delivered with the actions that the workload
	// inherits.
	int r = block_signals(s->in->plan.inherited_mask, NULL);
	if (r < 0) {
		err_set(s->err, -r, "the command's signals cannot be unblocked: %s", strerror(-r));
		return EXIT_OURS;
	}
	s->status = 0;
	int status = exec_program(s->arena, s->in->plan.argv, s->in->plan.envp, s->in->plan.path, s->err);
	s->status = status;
	return status;
}

/**
 * Start the child by fork(). It has a copy of our memory, so it prints itself why the workload does not start.
 */
static pid_t start_copy(struct start *s) {
	pid_t pid = fork();
	if (pid == 0) {
		int status = become_workload(s);
		write_all(STDERR_FILENO, str_of(arena_format(s->arena, "%s: error: %s\n", s->in->plan.program,
							     s->err->text)));
		_exit(status);
	}
	return pid;
}

/**
 * Start the child by vfork(): it uses our memory, and we wait for its execve(). If vfork() is refused, use
 * fork().
 */
static pid_t start_child(struct start *s) {
	// NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.vfork): used as intended
	pid_t pid = vfork();
	if (pid == 0) {
		// If an emulator replaces vfork() by fork(), the parent gets only the exit status.
		// NOLINTNEXTLINE(clang-analyzer-unix.Vfork): Linux shares all memory, and no more
		_exit(become_workload(s));
	}
	bool refused = pid < 0 && (errno == EPERM || errno == ENOSYS || errno == EACCES);
	return refused ? start_copy(s) : pid;
}

pid_t start_workload(const struct supervisor *in, struct arena *arena, int *status, struct err *err) {
	struct start s = {
		.arena = arena,
		.in = in,
		.folder = in->plan.restarts ? -1 : leave_folder(),
		.listen_pid = prepare_listen_pid(arena, in->plan.envp, in->self),
		.err = err,
	};
	err_set(err, EINTR, "the command was killed before it could start");
	pid_t pid = start_child(&s);
	if (s.folder >= 0) {
		close(s.folder);
	}
	if (pid < 0) {
		err_set(err, errno, "the command cannot be started: vfork failed: %s", strerror(errno));
		*status = EXIT_OURS;
		return -1;
	}
	if (s.status) {
		terminal_leave(&in->terminal, pid);
		*status = s.status;
		return -1;
	}
	err->text[0] = '\0';
	return pid;
}
