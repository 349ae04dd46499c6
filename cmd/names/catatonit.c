// SPDX-License-Identifier: Apache-2.0

/** catatonit 0.2.1. Podman's podman-init is the same program. */

#include "names/names.h"

#include "init/supervisor.h"

#define USAGE "usage: catatonit [-ghLPV] [--] PROGRAM [ARG]...\n"

static void prepare(struct alias_run *g) {
	// catatonit never forwards these.
	g->plan.signal_as[SIGTSTP] = 0;
	g->plan.signal_as[SIGTTIN] = 0;
	g->plan.signal_as[SIGTTOU] = 0;
}

static bool event(struct alias_run *g, enum init_event event, int a, int b) {
	(void)b;
	if (event == EVENT_STARTED) {
		alias_log(g, LOG_DEBUG, "pid1 (%d) spawned: %s", a, alias_command(g));
	} else if (event == EVENT_REAPED && a != g->child) {
		alias_log(g, LOG_DEBUG, "child process %d was reaped", a);
	}
	return false;
}

static int refuse_log(struct alias_run *g, const char *argument) {
	(void)argument;
	alias_log(g, LOG_ERROR, "CATATONIT_LOG is reserved for future use");
	return 1;
}

#define HELP \
	USAGE "\n" \
	      "  -g  send signals to the process group\n" \
	      "  -P  pause: run no program, and end at TERM or INT\n" \
	      "  -h, -L, -V, --version\n"

#define VERSION "tini version 0.2.1_catatonit (distinit " DISTINIT_VERSION ")\n"

static const struct alias_option options[] = {
	{.letter = 'g', .flag = ALIAS_GROUP},
	{.letter = 'h', .name = "help", .text = HELP, .fd = 2},
	{.letter = 'L', .text = ALIAS_LICENCE, .fd = 1},
	{.letter = 'P', .flag = ALIAS_PAUSES},
	{.letter = 'V', .name = "version", .text = VERSION, .fd = 1},
	{.variable = "CATATONIT_DEBUG", .raises = LOG_DEBUG},
	{.variable = "CATATONIT_LOG", .apply = refuse_log},
	{0},
};

static const char words[][6] = {"ERROR", "WARN", "INFO", "DEBUG"};

const struct alias alias_catatonit = {
	.names = "catatonit podman-init ",
	.engine = "podman-init",
	.options = options,
	.usage = USAGE,
	.usage_fd = 2,
	.head = "@ (catatonit:#): ",
	.words = words,
	.exec_before = "failed to exec ",
	.exec_after = ": ",
	.exec_status = 1,
	.usage_after_error = true,
	.stdout_from = LOG_NONE,
	.run = alias_run_init,
	.prepare = prepare,
	.event = event,
};
