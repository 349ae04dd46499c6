// SPDX-License-Identifier: Apache-2.0

/**
 * Tests the surrogate step: its name, the output of srun, and how its end is reported. The srun in
 * PATH is the test's own.
 */

#include "srun/step.h"

#include "check.h"
#include "fixture.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct arena arena;
static char folder[] = "/tmp/distrun-step.XXXXXX";

static void check_names(void) {
	char name[STEP_NAME_MAX], other[STEP_NAME_MAX];
	struct err err;
	check(step_name(name, NULL, 0, &err) == 0 && strlen(name) == 28);
	check(strspn(name + 6, "abcdefghijklmnopqrstuvwxyz0123456789") == 22 &&
	      memcmp(name, "wsjob-", 6) == 0);
	check(step_name(other, NULL, 0, &err) == 0 && strcmp(name, other) != 0);
	check(step_name(name, NULL, 65535, &err) == 0 && strcmp(name + 28, "-csx65535") == 0);
	check(step_name(name, "ns/a.b_c-D1", 2, &err) == 0 && strcmp(name, "ns/a.b_c-D1-csx2") == 0);
	static const char *const bad[] = {
		"",    "a b", "-a",
		"a\n", "a;b", "12345678901234567890123456789012345678901234567890123456789012345"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		checkf(step_name(name, bad[i], 0, &err) == -EINVAL, "'%s'", bad[i]);
	}
}

static void check_last_line(const char *text, const char *want) {
	struct str got = tool_last_line(str_of(text));
	checkf(str_is(got, want), "'%s': '%.*s'", text, (int)got.len, got.p);
}

/** Let srun be @script. */
static void set_srun(const char *script) {
	char path[64];
	snprintf(path, sizeof(path), "%s/srun", folder);
	FILE *file = fopen(path, "w");
	check(file != NULL);
	if (file) {
		fprintf(file, "#!/bin/sh\n%s\n", script);
		(void)fclose(file);
	}
	check(chmod(path, 0755) == 0);
}

/** Run a step with srun as @script; tell it @status once it is up, unless that is negative. */
static struct step run(const char *script, int status) {
	static char *const envp[] = {NULL};
	struct step step;
	int how = 0;
	set_srun(script);
	check(step_start(&step, &arena, "name", "12", envp) == 0);
	while (waitpid(step.srun.pid, &how, WNOHANG) == 0) {
		struct pollfd fds[2];
		step_fds(&step, fds);
		poll(fds, 2, 10);
		step_read(&step);
		if (step.state == STEP_UP && status >= 0) {
			step_send_status(&step, status);
		}
	}
	step_reaped(&step, how);
	check(step.state == STEP_OVER && step.srun.pid == 0 && step.srun.in < 0 && step.srun.out < 0);
	return step;
}

/** What stands behind srun's options is what runs on the node. */
#define RUN "while [ \"${1#-}\" != \"$1\" ]; do shift; done; SLURM_STEP_ID=7 \"$@\" "

/**
 * Read from srun until the step is up and has received the signals @wanted. Returns whether it did
 * within a minute.
 */
static bool await(struct step *step, uint64_t wanted) {
	for (int i = 0; i < 6000; i++) {
		struct pollfd fds[2];
		step_fds(step, fds);
		poll(fds, 2, 10);
		step_read(step);
		if (step->state == STEP_UP && step->signals == wanted) {
			return true;
		}
	}
	return false;
}

/** A signal is reported, and does not end the step. */
static void check_signals(void) {
	static char *const envp[] = {NULL};
	struct step step;
	int how = 0;
	// Then the step's shell is our direct child.
	set_srun("while [ \"${1#-}\" != \"$1\" ]; do shift; done; export SLURM_STEP_ID=7; exec \"$@\"");
	check(step_start(&step, &arena, "name", "12", envp) == 0);
	check(await(&step, 0));
	uint64_t wanted = 0;
	static const int signals[] = {SIGTERM, SIGUSR1, SIGHUP, SIGINT, SIGALRM};
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		wanted |= (uint64_t)1 << (signals[i] - 1);
		check(kill(step.srun.pid, signals[i]) == 0 && await(&step, wanted));
	}
	step_send_status(&step, 3);
	check(waitpid(step.srun.pid, &how, 0) == step.srun.pid && WIFEXITED(how) && WEXITSTATUS(how) == 3);
	step_reaped(&step, how);
	check(step.end == STEP_DONE);
}

int main(void) {
	arena = fixture_arena();
	check(mkdtemp(folder) != NULL);
	setenv("PATH", arena_format(&arena, "%s:/usr/bin:/bin", folder), 1);
	check_names();
	check_last_line("", "");
	check_last_line("srun: error: no\n\n", "no");
	check_last_line("a\nsrun: job 12: b\n", "job 12: b");
	check_last_line("a b: c", "a b: c");

	struct step step = run(RUN, 0);
	check(step.end == STEP_DONE && strcmp(step.id, "7") == 0);
	step = run(RUN, 255);
	check(step.end == STEP_DONE && strstr(step.why.text, "status 255") != NULL);
	// The script on the node, with its own output: without a number, the step is lost.
	step = run(RUN "</dev/null", -1);
	check(step.end == STEP_GONE && strstr(step.why.text, "status 70") != NULL);
	step = run("echo 7x | {\n" RUN "\n}", -1);
	check(step.end == STEP_GONE && strstr(step.why.text, "status 70") != NULL);
	check_signals();
	// Slurm kills the task; srun is killed; srun fails before the step starts.
	step = run("echo UP 8; exit 137", -1);
	check(step.end == STEP_CANCELLED);
	step = run("echo UP 8; kill -KILL $$", -1);
	check(step.end == STEP_GONE && strstr(step.why.text, "killed by signal 9") != NULL);
	step = run("echo srun: error: job 12 is over >&2; exit 1", -1);
	check(step.end == STEP_NEVER);
	checkf(strcmp(step.why.text, "srun has ended with status 1: 'job 12 is over'") == 0, "%s",
	       step.why.text);
	// A lot of output that is not part of the protocol.
	step = run("i=0; while [ $i -lt 500 ]; do echo a line of noise >&2; echo a long line that is much "
		   "longer than any that the step "
		   "could ever write; i=$((i + 1)); done; echo srun: last >&2; echo NOSUCH; exit 2",
		   -1);
	check(step.end == STEP_NEVER && step.signals == 0 && strstr(step.why.text, "'last'") != NULL);
	// Nor can a line that somebody else writes there end the command at once, or stop it.
	step = run("printf '%s\\n' UP\\ 8 KILL SIGKILL 9 STOP 19 15 SIGTERM RTMIN CONT 'TERM ' term ''", -1);
	checkf(step.signals == 0, "%llx", (unsigned long long)step.signals);
	step = run("printf '%s\\n' 'UP 8' KILL USR2", -1);
	check(step.signals == (uint64_t)1 << (SIGUSR2 - 1));

	check(unlink(arena_format(&arena, "%s/srun", folder)) == 0 && rmdir(folder) == 0);
	setenv("PATH", "/nowhere", 1);
	check(step_start(&step, &arena, "name", "12", (char *[]){NULL}) < 0 && step.end == STEP_NEVER);
	check(strcmp(step.why.text, "srun cannot be started: it is not in PATH") == 0);
	arena_done(&arena);
	return check_done();
}
