// SPDX-License-Identifier: Apache-2.0

/** The aliases that are inits: they run as --init, with their changes to the plan. */

#include "distinit/start.h"
#include "names/names.h"

#include "exec/exec.h"
#include "init/supervisor.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static bool on_event(struct observer *observer, enum init_event event, int a, int b) {
	struct alias_run *g =
		(struct alias_run *)(void *)((char *)observer - offsetof(struct alias_run, observer));
	if (event == EVENT_STARTED) {
		g->child = a;
	}
	return g->as->event(g, event, a, b);
}

/** catatonit -P: only reap children, until TERM or INT. */
static int pause_until_signal(struct alias_run *g) {
	const signal_set ends = signal_bit(SIGTERM) | signal_bit(SIGINT);
	siginfo_t info;
	struct err err;
	int signal = 0;
	if (init_hold_signals(&g->plan, &err) < 0) {
		session_fail(g->session, &err);
		return 1;
	}
	leave_places(&(struct observer)OBSERVER_NONE);
	while (signal <= 0 || !(signal_bit(signal) & ends)) {
		signal = take_signal(ALL_SIGNALS, &info, NULL);
		while (reap_child(-1, NULL, WNOHANG) > 0) {
		}
	}
	return 0;
}

/** Print in the alias's words that the command cannot be started. Returns the status to exit with. */
static int refuse_exec(const struct alias_run *g, const struct err *err) {
	alias_log(g, LOG_ERROR, "%s%s%s%s", g->as->exec_before, alias_command(g), g->as->exec_after,
		  strerror(err->code));
	int code = err->code;
	if (code == ENOEXEC) {
		return EXIT_NOT_FOUND; // the original runs it by a shell, which finds no such command
	}
	return g->as->exec_status ? g->as->exec_status
	       : code == ENOENT	  ? EXIT_NOT_FOUND
	       : code == EACCES	  ? EXIT_NOT_RUNNABLE
				  : 1;
}

/** Read distinit's own options. Only their variables count here, as the command line is the alias's. */
static int read_settings(struct alias_run *g, struct err *err) {
	static char init[] = "--init";
	struct session *s = g->session;
	char *words[] = {init, NULL};
	bool stay;
	s->engine = g->as->engine && strcmp(g->called, g->as->engine) == 0;
	init_plan_preset(&g->plan);
	int r = session_options(s, CMD_RUN, words, err);
	r = r < 0 ? r : read_map_exit(s, &g->plan, err);
	return r < 0 ? r : read_init_plan(s, &g->plan, &stay, err);
}

/** Run the command, after all options were read. Returns the status to exit with. */
static int supervise_command(struct alias_run *g) {
	struct session *s = g->session;
	struct err err;
	s->settings.arguments = g->command;
	if (g->plan.leftovers == LEFTOVERS_AUTO) {
		g->plan.leftovers = LEFTOVERS_LEAVE;
	}
	g->plan.kill_group = g->plan.kill_group || g->flags & ALIAS_GROUP;
	// The originals do not print how the command ended, so only DISTINIT_WHY turns this on.
	g->plan.explains = settings_on(&s->settings, OPT_WHY);
	g->observer = (struct observer)OBSERVER_NONE;
	g->observer.event = on_event;
	g->plan.observer = &g->observer;
	if (init_hold_signals(&g->plan, &err) < 0) {
		session_fail(s, &err);
		return 1;
	}
	g->as->prepare(g);
	int status = run_workload(s, &g->plan, &err);
	if (!err.text[0]) {
		return status;
	}
	report_failed(s, status, &err);
	if (status != EXIT_OURS) {
		return refuse_exec(g, &err);
	}
	session_fail(s, &err);
	return 1;
}

int alias_run_init(struct alias_run *g, char **argv) {
	struct session *s = g->session;
	struct err err;
	int r = read_settings(g, &err);
	// Read the alias's options before the error is printed, so that --version works even with wrong
	// variables.
	int status = alias_read_options(g, argv);
	if (status != GO_ON) {
		return status;
	}
	if (r < 0) {
		session_fail(s, &err);
		return 1;
	}
	if (g->flags & ALIAS_PAUSES) {
		return pause_until_signal(g);
	}
	say_notes(&s->speaker, &s->notes);
	session_report_open(s);
	return supervise_command(g);
}
