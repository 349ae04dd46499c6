// SPDX-License-Identifier: Apache-2.0
#pragma once

/** A run of the program: reads options and variables, and passes them to the flow (flow/flow.h). */

#include "common/say.h"
#include "distinit/options.h"
#include "fill/fill.h"
#include "flow/flow.h"
#include "report/report.h"

struct expectations;
struct rolling;
struct together;

struct session {
	enum command command;
	/** We run as a container engine's init, so most settings are for a distinit inside the container. */
	bool engine;
	struct speaker speaker;
	struct arena arena;
	struct env env;
	struct notes notes;
	struct report report;
	/** For the roll call (--for=all): the environment before it was changed, and the rest. */
	struct env before;
	struct rolling *rolling;
	/** The signal that ended a look-up of names before the start, and that this process dies of; 0: none. */
	int signal;
	/** The workload has run, and --map-exit was applied to its status. */
	bool ran;
	/** --check: the level from which on a finding ends this run. */
	enum check_level { CHECK_OFF, CHECK_FINDINGS, CHECK_HINTS } check;
	/** --expect; NULL: nothing is expected. */
	struct expectations *expected;
	/** --together or --max-restarts; NULL: neither is given. */
	struct together *together;
	/** What each start begins with, if there may be several; else NULL. */
	struct start *start;
	/** The descriptor that reserves the port of a roll call (net/listen.h); not above 0: none. */
	int reserved_port;
	struct settings settings;
	struct overrides overrides;
	struct flow flow;
	/** What session_fill() has put into the command. */
	struct fill fill;
};

/** Initialise @s with our environment. @memory is for the arena. */
void session_init(struct session *s, void *memory, size_t size);

/** Read the command line of @command and our variables. Returns 0 or -EINVAL. */
int session_options(struct session *s, enum command command, char **argv, struct err *err);

/** Find the cluster. Returns 0, also if there is none; -EINVAL. */
int session_cluster(struct session *s, struct err *err);

/**
 * Take the workload's rights for good, and open a view of this machine. Returns 0; -EPERM if these rights are not known
 * or cannot be taken.
 */
int session_view(struct session *s, const struct view **out, struct err *err);

/**
 * Plan the privileges. Call this early: the report has no failures from before. Returns 0; -EINVAL; or as
 * priv_plan().
 */
int session_plan(struct session *s, struct err *err);

/** Pass the settings to the flow, derive the variables, and apply the directives. Returns 0; -EINVAL; -E2BIG; -EINTR; or the error of a file. */
int session_derive(struct session *s, struct err *err);

/** If --report is given, begin the report. Call this after session_options(). (report.c) */
void session_report_open(struct session *s);

/** Call report_end() for this session, and print a failure as a warning. */
void session_report_end(struct session *s, struct report_line *line);

/** Whether there is a roll call: by --for=all or --together. */
bool session_calls_roll(const struct session *s);

/**
 * List the variables from which managers and launchers are read, ended by NULL, in the form of READS().
 * (bundle.c)
 */
const char *const *own_variables(struct session *s);

/** The option or variable that has set @id, for messages: "--wait" or "DISTINIT_WAIT". */
static inline const char *session_label(struct session *s, enum option_id id) {
	return settings_label(&s->settings, id);
}

/** The setting @id: its value, and where it is from. */
struct setting session_setting(struct session *s, enum option_id id);

/** Print the message in @err. Returns the exit status. */
static inline int session_fail(struct session *s, const struct err *err) {
	int status = say_failure(&s->speaker, err);
	return s->signal ? 128 + s->signal : status;
}
