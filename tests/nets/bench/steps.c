// SPDX-License-Identifier: Apache-2.0

/**
 * Counts what a program executes from its start until it, or the first child that it makes, becomes
 * another program: each of its instructions in user space, exactly, or each of its system calls.
 *
 *     steps [-s] CASE
 *
 * Prints the number of instructions; with -s, the numbers of the system calls, a line each, the last
 * one being the execve() itself. A string instruction with a repeat prefix counts once for each
 * repetition, as the processor traps after each. What the parent does once it has a child
 * is not counted.
 *
 * Exits with 1 if it never came to an execve().
 */

#include "case.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

struct count {
	/** The process that is followed. */
	pid_t pid;
	/** Count system calls, and print them. */
	bool syscalls;
	uint64_t instructions;
};

/** Start the case, stopped right after its execve(). */
static pid_t start(const struct bench_case *what) {
	pid_t child = fork();
	if (child == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		execve(what->argv[0], what->argv, what->envp);
		_exit(127);
	}

	int status;
	long options = PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
		       PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, child, NULL, options) < 0 ||
	    ptrace(PTRACE_CONT, child, NULL, NULL) < 0 || waitpid(child, &status, 0) != child ||
	    status >> 8 != (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
		return -1;
	}
	return child;
}

/** Say which system call it stopped at; nothing for the stop at its return. */
static void print_syscall(pid_t pid) {
	struct __ptrace_syscall_info info;
	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) > 0 &&
	    info.op == PTRACE_SYSCALL_INFO_ENTRY) {
		printf("%" PRIu64 "\n", (uint64_t)info.entry.nr);
	}
}

/** Leave the parent to itself, and go on with the child that it has just made. */
static bool follow_child(struct count *c) {
	unsigned long child = 0;
	int status;
	if (ptrace(PTRACE_GETEVENTMSG, c->pid, NULL, &child) < 0 ||
	    ptrace(PTRACE_CONT, c->pid, NULL, NULL) < 0) {
		return false;
	}
	c->pid = (pid_t)child;
	return waitpid(c->pid, &status, __WALL) == c->pid && WIFSTOPPED(status);
}

/** Go on to the next stop. */
static bool resume(const struct count *c, int signal) {
	return ptrace(c->syscalls ? PTRACE_SYSCALL : PTRACE_SINGLESTEP, c->pid, NULL, (long)signal) == 0;
}

/** Count until the next execve(). */
static bool count(struct count *c) {
	int status;
	int signal = 0;
	while (resume(c, signal) && waitpid(c->pid, &status, __WALL) == c->pid && WIFSTOPPED(status)) {
		signal = 0;
		switch (status >> 8) {
		case SIGTRAP:
			c->instructions++;
			break;
		case SIGTRAP | 0x80:
			print_syscall(c->pid);
			break;
		case SIGTRAP | PTRACE_EVENT_EXEC << 8:
			c->instructions++; // the instruction that made the call
			return true;
		case SIGTRAP | PTRACE_EVENT_FORK << 8:
		case SIGTRAP | PTRACE_EVENT_VFORK << 8:
		case SIGTRAP | PTRACE_EVENT_CLONE << 8:
			c->instructions++;
			if (!follow_child(c)) {
				return false;
			}
			break;
		default:
			signal = WSTOPSIG(status);
		}
	}
	return false;
}

/** Stay on this processor, the program too: each step is two switches between us, cheapest there. */
static void pin(void) {
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((size_t)sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

int main(int argc, char **argv) {
	struct count c = {.syscalls = argc == 3 && strcmp(argv[1], "-s") == 0};
	if (argc != 2 + c.syscalls) {
		fprintf(stderr, "usage: steps [-s] CASE\n");
		return 2;
	}

	struct bench_case what;
	if (bench_case_read(argv[argc - 1], &what) < 0) {
		fprintf(stderr, "steps: error: %s is no case: %s\n", argv[argc - 1], strerror(errno));
		return 2;
	}
	pin();
	c.pid = start(&what);
	if (c.pid < 0) {
		fprintf(stderr, "steps: error: cannot trace %s\n", what.argv[0]);
		return 1;
	}
	if (!count(&c)) {
		fprintf(stderr, "steps: error: %s ended, and had become nothing else\n", what.argv[0]);
		return 1;
	}
	if (!c.syscalls) {
		printf("%" PRIu64 "\n", c.instructions);
	}
	return 0; // what is still traced dies with us
}
