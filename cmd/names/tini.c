// SPDX-License-Identifier: Apache-2.0

/** tini 0.19.0. Docker's docker-init is the same program. */

#include "names/names.h"

#include "base/num.h"
#include "base/secret.h"
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

/** tini -e. */
static int map_to_0(struct alias_run *g, const char *argument) {
	uint64_t status;
	if (num_read(str_of(argument), 255, &status) < 0) {
		alias_log(g, LOG_ERROR, "Not a valid option for -e: %s",
			  secret_text(&g->session->arena, argument));
		return 1;
	}
	g->plan.status_as[status] = 0;
	return GO_ON;
}

/** tini -p: we get the signal, and forward it. */
static int follow_parent(struct alias_run *g, const char *argument) {
	int signal = signal_read(str_of(argument), NULL);
	if (signal < 0) {
		alias_log(g, LOG_ERROR, "Not a valid option for -p: %s",
			  secret_text(&g->session->arena, argument));
		return 1;
	}
	g->parent_signal = signal;
	return GO_ON;
}

/** TINI_VERBOSITY. If the value is not a number, it is 0, as for atoi(3). */
static int set_level(struct alias_run *g, const char *argument) {
	uint64_t level = 0;
	num_read(str_of(argument), UINT8_MAX, &level);
	g->level = (unsigned)level;
	return GO_ON;
}

static void warn_of_zombies(const struct alias_run *g) {
	int is_subreaper = (g->flags & ALIAS_SUBREAPER) != 0;
	if (!is_subreaper) {
		prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper);
	}
	if (getpid() != 1 && !is_subreaper) {
		alias_log(g, LOG_WARN,
			  "zombie reaping won't work: Tini is neither PID 1 nor a subreaper (-s)");
	}
}

static void prepare(struct alias_run *g) {
	g->plan.no_subreaper = !(g->flags & ALIAS_SUBREAPER);
	if (g->parent_signal) {
		prctl(PR_SET_PDEATHSIG, (unsigned long)g->parent_signal);
	}
	warn_of_zombies(g);
}

static void log_ended(const struct alias_run *g, int status) {
	if (WIFEXITED(status)) {
		alias_log(g, LOG_INFO, "Main child exited normally (with status '%d')", WEXITSTATUS(status));
	} else {
		alias_log(g, LOG_INFO, "Main child exited with signal (with signal '%s')",
			  signal_name(WTERMSIG(status)).s);
	}
}

static void log_reaped(const struct alias_run *g, int pid, int status) {
	alias_log(g, LOG_DEBUG, "Reaped child with pid: '%d'", pid);
	if (pid == g->child) {
		log_ended(g, status);
	} else if (g->flags & ALIAS_WARNS) {
		alias_log(g, LOG_WARN, "Reaped zombie process with pid=%d", pid);
	}
}

static bool event(struct alias_run *g, enum init_event event, int a, int b) {
	if (event == EVENT_STARTED) {
		alias_log(g, LOG_INFO, "Spawned child process '%s' with pid '%d'", alias_command(g), a);
	} else if (event == EVENT_SIGNAL && a == SIGCHLD) {
		alias_log(g, LOG_DEBUG, "Received SIGCHLD");
	} else if (event == EVENT_FORWARDED) {
		alias_log(g, LOG_DEBUG, "Passing signal: '%s'", signal_name(b).s);
	} else if (event == EVENT_REAPED) {
		log_reaped(g, a, b);
	}
	return false;
}

// dockerd reads this line. The commit is that of tini 0.19.0.
#define VERSION "tini version 0.19.0 (distinit " DISTINIT_VERSION ") - git.de40ad0\n"

static const struct alias_option options[] = {
	{.letter = 'e', .has_argument = true, .apply = map_to_0},
	{.letter = 'g', .variable = "TINI_KILL_PROCESS_GROUP", .flag = ALIAS_GROUP},
	{.letter = 'h', .name = "help", .text = HELP, .fd = 1},
	{.letter = 'l', .text = ALIAS_LICENCE, .fd = 1},
	{.letter = 'p', .has_argument = true, .apply = follow_parent},
	{.letter = 's', .variable = "TINI_SUBREAPER", .flag = ALIAS_SUBREAPER},
	{.letter = 'v', .name = "verbose", .raises = 1},
	{.letter = 'V', .name = "version", .text = VERSION, .fd = 1},
	{.letter = 'w', .flag = ALIAS_WARNS},
	{.variable = "TINI_VERBOSITY", .apply = set_level},
	{0},
};

static const char words[][6] = {"FATAL", "WARN ", "INFO ", "DEBUG"};

const struct alias alias_tini = {
	.names = "tini tini-static docker-init ",
	.engine = "docker-init",
	.options = options,
	.usage = HELP,
	.usage_fd = 2,
	.head = "[@ tini (#)] ",
	.words = words,
	.exec_before = "exec ",
	.exec_after = " failed: ",
	.usage_after_error = true,
	.stdout_from = LOG_INFO,
	.level = LOG_WARN,
	.run = alias_run_init,
	.prepare = prepare,
	.event = event,
};
