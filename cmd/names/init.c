// SPDX-License-Identifier: Apache-2.0

/** The names that are inits: their options, and the run of --init with what they change in it. */

#include "distinit/commands.h"
#include "names/names.h"

#include "base/num.h"
#include "base/secret.h"
#include "exec/exec.h"
#include "init/supervisor.h"

#include <string.h>
#include <unistd.h>

#define LICENCE "@ is distinit " DISTINIT_VERSION ", under the Apache License 2.0\n"

#define REWRITE_HELP \
	"Usage: -r option takes <signum>:<signum>, where <signum> is between 1 and 31.\n" \
	"This option can be specified multiple times.\n" \
	"Use --help for full usage.\n"

/** dumb-init rewrites only these: no realtime signals. */
#define REWRITE_MAX 31

/** tini -e. */
static int map_to_0(struct guise *g, const char *argument) {
	uint64_t status;
	if (num_read(str_of(argument), 255, &status) < 0) {
		guise_say(g, LOG_ERROR, "Not a valid option for -e: %s",
			  secret_text(&g->session->arena, argument));
		return 1;
	}
	g->plan.status_as[status] = 0;
	return GO_ON;
}

/** tini -p: for us, so that we forward it. */
static int follow_parent(struct guise *g, const char *argument) {
	int signal = signal_read(str_of(argument), NULL);
	if (signal < 0) {
		guise_say(g, LOG_ERROR, "Not a valid option for -p: %s",
			  secret_text(&g->session->arena, argument));
		return 1;
	}
	g->parent_signal = signal;
	return GO_ON;
}

/** What scanf(3) skips before a number: blanks, and then a plus. */
static struct str skip_blanks(struct str text) {
	size_t n = strspn(text.p, " \t\n\v\f\r");
	n += n < text.len && text.p[n] == '+';
	return n < text.len ? (struct str){text.p + n, text.len - n} : text;
}

/** dumb-init -r. */
static int rewrite(struct guise *g, const char *argument) {
	struct str to = str_of(argument), from;
	uint64_t signal, as;
	str_cut(&to, ':', &from);
	if (!to.p || num_read(skip_blanks(from), REWRITE_MAX, &signal) < 0 || signal == 0 ||
	    num_read(skip_blanks(to), REWRITE_MAX, &as) < 0) {
		return guise_print(g, 2, REWRITE_HELP, "", 1);
	}
	g->plan.signal_as[signal] = (uint8_t)as;
	return GO_ON;
}

/** TINI_VERBOSITY: like atoi(3), what is not a number is 0. */
static int set_level(struct guise *g, const char *argument) {
	uint64_t level = 0;
	num_read(str_of(argument), UINT8_MAX, &level);
	g->level = (unsigned)level;
	return GO_ON;
}

int guise_obey(struct guise *g, char letter, const char *argument) {
	switch (letter) {
	case 'e':
		return map_to_0(g, argument);
	case '?':
	case 'h':
		return guise_print(g, g->as->help_fd, g->as->help, "", 0);
	case 'L':
	case 'l':
		return guise_print(g, 1, LICENCE, "", 0);
	case 'n':
		return set_level(g, argument);
	case 'p':
		return follow_parent(g, argument);
	case 'R':
		guise_say(g, LOG_ERROR, "CATATONIT_LOG is reserved for future use");
		return 1;
	case 'r':
		return rewrite(g, argument);
	case 'v':
		// gosu's version, as it has no messages to turn on.
		if (g->as->verbose_step == 0) {
			return guise_obey(g, 'V', NULL);
		}
		g->level += g->as->verbose_step;
		return GO_ON;
	case 'V':
		return guise_print(g, g->as->version_fd, g->as->version, "", 0);
	default:
		g->flags |= 1U << (letter & 31);
		return GO_ON;
	}
}

static bool on_event(struct observer *observer, enum init_event event, int a, int b) {
	struct guise *g = (struct guise *)(void *)((char *)observer - offsetof(struct guise, observer));
	if (event == EVENT_STARTED) {
		g->child = a;
	}
	return g->as->event(g, event, a, b);
}

/** catatonit -P: reap, and do nothing else, until TERM or INT. */
static int pause_until_signal(struct guise *g) {
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

/** Say in the program's words that the command cannot be started. Returns the status to exit with. */
static int refuse_exec(const struct guise *g, int status, const struct err *err) {
	guise_say(g, LOG_ERROR, "%s%s%s%s", g->as->exec_before, guise_command(g), g->as->exec_after,
		  strerror(err->code));
	return g->as->exec_status ? g->as->exec_status : status;
}

/** Read our own options, which are variables here. */
static int read_settings(struct guise *g, struct err *err) {
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

/** Run the command. All options are read. */
static int supervise_command(struct guise *g) {
	struct session *s = g->session;
	struct err err;
	s->settings.arguments = g->command;
	if (g->plan.leftovers == LEFTOVERS_AUTO) {
		g->plan.leftovers = LEFTOVERS_LEAVE;
	}
	g->plan.kill_group = g->plan.kill_group || guise_has(g, 'g');
	// None of them says why the command ended, unless it is asked.
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
		return refuse_exec(g, status, &err);
	}
	session_fail(s, &err);
	return 1;
}

int guise_run_init(struct guise *g, char **argv) {
	struct session *s = g->session;
	struct err err;
	int r = read_settings(g, &err);
	// Variables of ours that are wrong do not keep --version from working.
	int status = guise_options(g, argv);
	if (status != GO_ON) {
		return status;
	}
	if (r < 0) {
		session_fail(s, &err);
		return 1;
	}
	if (guise_has(g, 'P')) {
		return pause_until_signal(g);
	}
	say_notes(&s->speaker, &s->notes);
	session_report_open(s);
	return supervise_command(g);
}
