// SPDX-License-Identifier: Apache-2.0

/**
 * The child: from vfork() to execve(). What it inherits is what we have inherited, but for its
 * group and the terminal.
 */

#include "base/num.h"
#include "exec/exec.h"
#include "init/supervisor.h"

#include <string.h>
#include <sys/prctl.h>

#define LISTEN_PID "LISTEN_PID="

/** What parent and child tell each other, in the memory that they share until execve(). */
struct start {
	struct arena *arena;
	const struct init_plan *plan;
	const struct terminal *terminal;
	/** What becomes of SIGCHLD. */
	struct sigaction child_action;
	pid_t parent;
	/** The digits of LISTEN_PID, to be filled in; NULL: it is not ours. */
	char *listen_pid;
	/**
	 * What to exit with where the workload does not start; 0: it has. Volatile, as the child
	 * writes it behind the compiler's back.
	 */
	volatile int status;
	struct err *err;
};

/**
 * Whether @entry is LISTEN_PID with our own pid, as socket activation sets it for the process that
 * it starts.
 */
static bool is_our_listen_pid(const char *entry, pid_t self) {
	uint64_t pid;
	return strncmp(entry, LISTEN_PID, sizeof(LISTEN_PID) - 1) == 0 &&
	       num_read(str_of(entry + sizeof(LISTEN_PID) - 1), INT32_MAX, &pid) == 0 && (pid_t)pid == self;
}

/**
 * Make room for the workload's pid in LISTEN_PID, which may stand there more than once.
 * LISTEN_PIDFDID, which names us too, is taken out: it counts only where it is set.
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
 * Ask for a signal when the parent dies. It may have died already: then the signal would never
 * come.
 */
static bool follow_parent(struct start *s) {
	if (!s->plan->pdeathsig) {
		return true;
	}
	if (prctl(PR_SET_PDEATHSIG, (unsigned long)s->plan->pdeathsig) < 0) {
		err_set(s->err, errno, "--pdeathsig cannot be set: %s", strerror(errno));
		return false;
	}
	return getppid() == s->parent;
}

/** The child's way. Comes back only if the workload cannot be started. */
static void become_workload(struct start *s) {
	s->status = EXIT_OURS;
	if (s->listen_pid) {
		s->listen_pid[num_write(s->listen_pid, (uint64_t)getpid())] = '\0';
	}
	terminal_enter(s->terminal);
	if (!follow_parent(s)) {
		return;
	}
	sigaction(SIGCHLD, &s->child_action, NULL);
	// The last thing: from here on a signal meets what the workload would do about it.
	block_signals(s->plan->inherited_mask);
	s->status = 0;
	int status = exec_program(s->arena, s->plan->argv, s->plan->envp, s->plan->path, s->err);
	s->status = status;
}

/** Start the child, which has our memory while we wait for its execve(). */
static pid_t start_child(struct start *s) {
	// NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.vfork): what it is for
	pid_t pid = vfork();
	if (pid == 0) {
		become_workload(s); // NOLINT(clang-analyzer-unix.Vfork): Linux shares all memory, and no more
		_exit(EXIT_OURS);
	}
	return pid;
}

pid_t start_workload(struct arena *arena, const struct init_plan *plan, const struct terminal *terminal,
		     int *status, struct err *err) {
	struct start s = {
		.arena = arena,
		.plan = plan,
		.terminal = terminal,
		.parent = getpid(),
		.err = err,
	};
	err_set(err, EINTR, "the command was killed before it could start");
	// Where SIGCHLD is ignored, the kernel reaps behind our back, and no status would ever
	// come.
	struct sigaction plain = {.sa_handler = SIG_DFL};
	sigaction(SIGCHLD, &plain, &s.child_action);
	s.listen_pid = prepare_listen_pid(arena, plan->envp, s.parent);

	pid_t pid = start_child(&s);
	if (pid < 0) {
		err_set(err, errno, "the command cannot be started: no new process: %s", strerror(errno));
		*status = EXIT_OURS;
		return -1;
	}
	if (s.status) {
		terminal_leave(terminal, pid);
		*status = s.status;
		return -1;
	}
	err->text[0] = '\0';
	return pid;
}
