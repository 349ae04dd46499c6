// SPDX-License-Identifier: Apache-2.0

#include "srun/relay.h"

#include "check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void check_report(const char *line, int want) {
	int got = relay_report(str_of(line));
	checkf(got == want, "'%s': got %d, want %d", line, got, want);
}

static void test_reports(void) {
	check_report("srun: error: n2: task 1: Exited with exit code 3", 3);
	check_report("srun: error: n[1-2]: tasks 0-7,9: Exited with exit code 255\r", 255);
	check_report("srun: error: n2: task 0: Terminated", 143);
	check_report("srun: error: n2: tasks 0-1: Segmentation fault (core dumped)", 139);
	check_report("srun: error: n2: task 0: Aborted", 134);
	check_report("srun: error: n2: task 0: Killed", 137);
	check_report("srun: error: n2: task 0: Out Of Memory", 137);
	check_report("srun: error: n2: task 0: Real-time signal 0", 0);
	check_report("srun: error: n2: task 0: Killed by elves", 0);
	check_report("srun: error: n2: task 1: Exited with exit code", 0);
	check_report("srun: error: n2: task 1: Exited with exit code 256", -1);
	check_report("srun: error: n2: task 1: Exited with exit code x", -1);
	check_report("srun: error: Unable to create step for job 17: More processors requested", -1);
	check_report("srun: error: n2: task 1", -1);
	check_report("srun: error: n2: task 1:", -1);
	check_report("slurmstepd-n1: error: *** STEP 26.0 ON n1 CANCELLED ***", -1);
	check_report("1: srun: error: n2: task 1: Exited with exit code 3", -1);
	check_report("", -1);
}

/**
 * Run a relay with a file as its stderr, write @said to it, and check the output and the resulting
 * @status.
 */
static void check_relay(const char *said, int status, int want) {
	char path[] = "/tmp/test-relay.XXXXXX", arrived[1000] = "";
	int file = mkstemp(path), ended = -1;
	pid_t pid = fork();
	if (pid == 0) {
		struct relay relay;
		struct err err;
		dup2(file, 2);
		if (relay_start(&relay, &err) < 0 || write(2, said, strlen(said)) < 0) {
			_exit(99);
		}
		_exit(relay_end(&relay, status));
	}
	waitpid(pid, &ended, 0);
	ssize_t n = pread(file, arrived, sizeof(arrived) - 1, 0);
	checkf(n == (ssize_t)strlen(said) && strcmp(arrived, said) == 0, "all arrives of <%s>", said);
	checkf(WIFEXITED(ended) && WEXITSTATUS(ended) == want, "<%s>: %d becomes %d, want %d", said, status,
	       WEXITSTATUS(ended), want);
	close(file);
	unlink(path);
}

int main(void) {
	test_reports();
	check_relay("", 0, 0);
	check_relay("", 143, 143);
	check_relay("no line's end", 143, 143);
	check_relay("srun: error: n1: task 3: Exited with exit code 3\nsrun: error: n1: task 1: Exited with "
		    "exit code 9\n"
		    "srun: error: n2: tasks 0-2: Terminated\n",
		    143, 3);
	check_relay("srun: error: n1: task 3: Exited with exit code 3\n", 137, 3);
	// srun's own answer, where nobody had to be ended.
	check_relay("srun: error: n1: task 3: Exited with exit code 3\n", 9, 9);
	check_relay("srun: error: n1: task 3: Segmentation fault\nsrun: error: n1: task 1: Exited with exit "
		    "code 9\n",
		    139, 139);
	return check_done();
}
