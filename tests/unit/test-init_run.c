// SPDX-License-Identifier: Apache-2.0

/** init_run() in a process of its own: what it exits with, and that nobody is left. */

#include "init/init.h"

#include "check.h"
#include "exec/exec.h"
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/** Run @script as the workload of @plan, in a child. Returns the status that it exits with. */
static int run(struct init_plan *plan, const char *program, char *script) {
	static char option[] = "-c";
	struct arena arena = fixture_arena();
	char *argv[] = {arena_text(&arena, program, strlen(program)), option, script, NULL};
	char *envp[] = {arena_text(&arena, "PATH=/usr/bin:/bin", 18), NULL};
	plan->argv = argv;
	plan->envp = envp;
	plan->path = "/usr/bin:/bin";
	(void)fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		struct err err;
		int status = init_run(&arena, plan, &err);
		// A sentence is there for what did not start, and only then.
		bool started = status != EXIT_NOT_FOUND && status != EXIT_NOT_RUNNABLE;
		_exit(started == (err.text[0] == '\0') ? status : 99);
	}
	int status = 0;
	waitpid(pid, &status, 0);
	arena_done(&arena);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void check_run(struct init_plan *plan, const char *script, int want) {
	char text[2000];
	snprintf(text, sizeof(text), "%s", script);
	int got = run(plan, "sh", text);
	checkf(got == want, "'%.60s' ends with %d", script, got);
}

/** Whoever asks whether the workload's parent has one child, the workload. */
#define ALONE \
	"i=0; while [ $i -lt 3000 ]; do case $(cat /proc/$PPID/task/$PPID/children) in \"$$ \") exit 8 ;; " \
	"esac; " \
	"i=$((i + 1)); sleep 0.01; done; exit 1"

// The observer gets how it ended. It sees that in the child that init_run() runs in, so the result is
// an exit status.

static bool see_end(struct observer *observer, enum init_event event, int a, int b) {
	const struct workload_end *end = observer->end;
	(void)a, (void)b;
	if (event != EVENT_ENDED) {
		return false;
	}
	if (end->ran_ms < 200 || end->ran_ms > 100000) {
		_exit(90);
	}
	_exit(strcmp(end->text, "killed by SIGUSR1") == 0 && end->killed_by == SIGUSR1 && end->status == 60
		      ? 10
	      : strcmp(end->text, "exit status 6") == 0 && !end->killed_by && end->exit_status == 6 &&
			      end->status == 70
		      ? 11
		      : 91);
}

static void check_observer(void) {
	struct observer observer = OBSERVER_NONE;
	struct init_plan plan;
	observer.event = see_end;
	init_plan_preset(&plan);
	plan.log = LOG_ERROR;
	plan.observer = &observer;
	plan.status_as[128 + SIGUSR1] = 60;
	plan.status_as[6] = 70;
	check_run(&plan, "sleep 0.2; kill -USR1 $$", 10);
	check_run(&plan, "sleep 0.2; exit 6", 11);
}

// Several starts: what one leaves behind is gone at the next, and all get the same.

/** How often the workload has been started, and how often it shall be. */
static int starts, wanted;

static bool start_again(struct observer *observer, enum init_event event, int a, int b) {
	(void)a, (void)b;
	if (event == EVENT_ENDED) {
		observer->again = ++starts < wanted;
	}
	return false;
}

/** The highest descriptor that is open. */
static int count_open(void) {
	int n = 0;
	for (int fd = 0; fd < 100; fd++) {
		n += fcntl(fd, F_GETFD) >= 0;
	}
	return n;
}

/** In a child: start @script @n times. Returns the last status. */
static int run_again(struct init_plan *plan, char *script, int n) {
	static char shell[] = "sh", option[] = "-c", path[] = "PATH=/usr/bin:/bin";
	struct arena arena = fixture_arena();
	struct observer observer = OBSERVER_NONE;
	struct err err;
	char *argv[] = {shell, option, script, NULL};
	char *envp[] = {path, NULL};
	int status = 0;
	wanted = n;
	plan->argv = argv;
	plan->envp = envp;
	plan->path = "/usr/bin:/bin";
	plan->restarts = true;
	int before = -1;
	do {
		observer = (struct observer)OBSERVER_NONE;
		observer.event = start_again;
		plan->observer = &observer;
		plan->is_restart = starts > 0;
		// Dropped before the next start: else it would kill the program.
		kill(getpid(), starts ? SIGUSR1 : SIGCHLD);
		status = init_run(&arena, plan, &err);
		if (observer.again) {
			before = before < 0 ? count_open() : before;
			status = count_open() == before ? status : 98;
		}
	} while (observer.again && status != 98 && !err.text[0]);
	arena_done(&arena);
	return err.text[0] ? 97 : status;
}

static void check_restarts(void) {
	static char script[] =
		"[ \"$(pwd)\" = / ] && exit 20; echo x; read -r line <&0; [ \"$line\" = y ] || exit 21; "
		"kill -0 $(cat left 2>/dev/null) 2>/dev/null && exit 22; "
		"kill -0 $(cat here) || exit 23; "
		"sh -c 'trap \"\" TERM; echo $$ >left; sleep 1000 & sleep 1000' & "
		"until [ -s left ]; do sleep 0.01; done; exit 5";
	char folder[] = "/tmp/test-init_run-XXXXXX", text[] = "xxxxxx";
	int in[2], out[2], status = 0;
	check(mkdtemp(folder) && chdir(folder) == 0 && pipe(in) == 0 && pipe(out) == 0);
	(void)fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		struct init_plan plan;
		// One that was there before, as a shell's process that reads our output.
		pid_t here = fork();
		if (here == 0) {
			pause();
			_exit(0);
		}
		FILE *file = fopen("here", "w");
		fprintf(file, "%d\n", here);
		(void)fclose(file);
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		close(out[0]);
		init_plan_preset(&plan);
		plan.log = LOG_ERROR;
		plan.leftovers = LEFTOVERS_END;
		plan.leftovers_grace_ms = 50;
		init_hold_signals(&plan, NULL);
		_exit(run_again(&plan, script, 3));
	}
	close(in[0]);
	close(out[1]);
	check(write(in[1], "y\ny\ny\n", 6) == 6);
	waitpid(pid, &status, 0);
	checkf(WIFEXITED(status) && WEXITSTATUS(status) == 5, "three starts end with %d",
	       WEXITSTATUS(status));
	check(read(out[0], text, 6) == 6 && strcmp(text, "x\nx\nx\n") == 0);
	check(unlink("here") == 0 && unlink("left") == 0 && chdir("/") == 0 && rmdir(folder) == 0);
}

/** Longer than the test may take. */
#define GRACE_LONG ((uint64_t)3600 * 1000)

int main(void) {
	struct init_plan plan;
	init_plan_preset(&plan);
	plan.log = LOG_ERROR;
	plan.leftovers = LEFTOVERS_END;
	check_run(&plan, "exit 0", 0);
	check_run(&plan, "exit 7", 7);
	check_run(&plan, "kill -USR1 $$", 128 + SIGUSR1);
	check_run(&plan, "for i in 1 2 3 4 5; do (true &); done; " ALONE, 8);
	// Its status is right behind orphans, too.
	check_run(&plan, "(true &); sleep 0.2; (true &); sleep 0.2; exit 9", 9);
	check_run(&plan, "(true &); sleep 0.2; (true &); sleep 0.2; kill -TERM $$", 128 + SIGTERM);
	check_run(&plan, "i=0; while [ $i -lt 300 ]; do (true &); i=$((i + 1)); done; exit 3", 3);
	// What is left is asked to end, and its children when they become ours.
	plan.leftovers_grace_ms = GRACE_LONG;
	check_run(&plan, "sh -c 'sleep 1000 & sleep 1000' & (sleep 1000 &); sleep 0.2; exit 4", 4);
	plan.leftovers_grace_ms = 0;
	check_run(&plan, "trap '' TERM; sleep 1000 & exit 5", 5);
	plan.leftovers = LEFTOVERS_LEAVE;
	plan.leftovers_grace_ms = GRACE_LONG;
	check_run(&plan, "trap '' TERM; sleep 2 & exit 5", 5);
	plan.limit_grace_ms = 100;
	plan.time_limit_ms = 100;
	check_run(&plan, "(true &); trap '' TERM; while :; do sleep 0.01; done", EXIT_TIME_LIMIT);
	plan.time_limit_ms = 3600 * 1000;
	check_run(&plan, "exit 6", 6);
	plan.status_as[6] = 60;
	check_run(&plan, "exit 6", 60);
	plan.early_as = 61;
	plan.told_as = 62;
	check_run(&plan, "exit 0", 61);
	check_run(&plan, "trap 'exit 0' TERM; kill -TERM $PPID; while :; do sleep 0.01; done", 62);
	init_plan_preset(&plan);
	static char nothing[] = "";
	check(run(&plan, "no-such-program", nothing) == EXIT_NOT_FOUND);
	check(run(&plan, "/dev/null", nothing) == EXIT_NOT_RUNNABLE);
	check_observer();
	check_restarts();
	return check_done();
}
