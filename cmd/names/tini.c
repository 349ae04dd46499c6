// SPDX-License-Identifier: Apache-2.0

/** tini 0.19.0. Docker's docker-init is the same program. */

#include "names/names.h"

#include "init/supervisor.h"

#include <sys/prctl.h>

#define HELP \
	"@ (tini version 0.19.0, distinit " DISTINIT_VERSION ")\n" \
	"Usage: @ [OPTION]... [--] PROGRAM [ARG]...\n" \
	"Run PROGRAM under the supervision of a valid init process.\n" \
	"\n" \
	"  -e N  exit with 0 instead of N\n" \
	"  -g    send signals to the process group\n" \
	"  -p S  get signal S when the parent dies\n" \
	"  -s    be a subreaper\n" \
	"  -v    more verbose\n" \
	"  -w    warn when an orphan is reaped\n" \
	"  -h, -l, --version\n" \
	"\n" \
	"Variables: TINI_SUBREAPER, TINI_KILL_PROCESS_GROUP, TINI_VERBOSITY\n"

static void warn_of_zombies(const struct guise *g) {
	int is_subreaper = guise_has(g, 's');
	if (!is_subreaper) {
		prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper);
	}
	if (getpid() != 1 && !is_subreaper) {
		guise_say(g, LOG_WARN,
			  "zombie reaping won't work: Tini is neither PID 1 nor a subreaper (-s)");
	}
}

static void prepare(struct guise *g) {
	g->plan.no_subreaper = !guise_has(g, 's');
	if (g->parent_signal) {
		prctl(PR_SET_PDEATHSIG, (unsigned long)g->parent_signal);
	}
	warn_of_zombies(g);
}

static void say_ended(const struct guise *g, int status) {
	if (WIFEXITED(status)) {
		guise_say(g, LOG_INFO, "Main child exited normally (with status '%d')", WEXITSTATUS(status));
	} else {
		guise_say(g, LOG_INFO, "Main child exited with signal (with signal '%s')",
			  signal_name(WTERMSIG(status)).s);
	}
}

static void say_reaped(const struct guise *g, int pid, int status) {
	guise_say(g, LOG_DEBUG, "Reaped child with pid: '%d'", pid);
	if (pid == g->child) {
		say_ended(g, status);
	} else if (guise_has(g, 'w')) {
		guise_say(g, LOG_WARN, "Reaped zombie process with pid=%d", pid);
	}
}

static bool event(struct guise *g, enum init_event event, int a, int b) {
	if (event == EVENT_STARTED) {
		guise_say(g, LOG_INFO, "Spawned child process '%s' with pid '%d'", guise_command(g), a);
	} else if (event == EVENT_SIGNAL && a == SIGCHLD) {
		guise_say(g, LOG_DEBUG, "Received SIGCHLD");
	} else if (event == EVENT_FORWARDED) {
		guise_say(g, LOG_DEBUG, "Passing signal: '%s'", signal_name(b).s);
	} else if (event == EVENT_REAPED) {
		say_reaped(g, a, b);
	}
	return false;
}

static const char *const variables[] = {"sTINI_SUBREAPER", "gTINI_KILL_PROCESS_GROUP", "nTINI_VERBOSITY",
					NULL};

static const char words[][6] = {"FATAL", "WARN ", "INFO ", "DEBUG"};

const struct disguise disguise_tini = {
	.names = "tini tini-static docker-init ",
	.engine = "docker-init",
	.letters = "e:ghlp:svVw",
	.variables = variables,
	.help = HELP,
	// dockerd reads this line. The commit is that of tini 0.19.0.
	.version = "tini version 0.19.0 (distinit " DISTINIT_VERSION ") - git.de40ad0\n",
	.usage = HELP,
	.help_fd = 1,
	.version_fd = 1,
	.usage_fd = 2,
	.head = "[@ tini (#)] ",
	.words = words,
	.exec_before = "exec ",
	.exec_after = " failed: ",
	.usage_after_error = true,
	.stdout_from = LOG_INFO,
	.level = LOG_WARN,
	.verbose_step = 1,
	.run = guise_run_init,
	.prepare = prepare,
	.event = event,
};
