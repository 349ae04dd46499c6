// SPDX-License-Identifier: Apache-2.0
#pragma once

/** One run of the program: reads options and variables, and passes them to the flow (flow/flow.h). */

#include "common/say.h"
#include "distinit/options.h"
#include "fill/fill.h"
#include "flow/flow.h"
#include "report/report.h"

struct rolling;
struct together;

struct session {
	enum command command;
	/** We are an engine's init: most settings are for a distinit inside the container. */
	bool engine;
	struct speaker speaker;
	struct arena arena;
	struct env env;
	struct notes notes;
	struct report report;
	/** For the roll call (--for=all): the environment before it was changed, and the rest. */
	struct env before;
	struct rolling *rolling;
	/** The workload has run, and its status is mapped (--map-exit). */
	bool ran;
	/** --check: from which level on a finding ends this. */
	enum check_level { CHECK_OFF, CHECK_FINDINGS, CHECK_HINTS } check;
	/** --together or --max-restarts; NULL: neither is wanted. What is before each start, if there may be several. */
	struct together *together;
	struct before_start *before_start;
	/** The descriptor that holds the port of a roll call (net/listen.h); not above 0: none. */
	int held_port;
	struct settings settings;
	struct overrides overrides;
	struct flow flow;
	/** What session_fill() has put into the command. */
	struct fill fill;
};

/** Start with our own environment. @memory is for the arena. */
void session_init(struct session *s, void *memory, size_t size);

/** Read the command line of @command and our variables. Returns 0; -EINVAL. */
int session_options(struct session *s, enum command command, char **argv, struct err *err);

/** Find the cluster. Returns 0, even if there is none; -EINVAL. */
int session_cluster(struct session *s, struct err *err);

/**
 * Take the program's rights for good, and see this machine with them. Returns 0; -EPERM if they are not known or cannot
 * be taken.
 */
int session_view(struct session *s, const struct view **out, struct err *err);

/** Plan the privileges. First: earlier failures are in no report. Returns 0; -EINVAL, or as priv_plan(). */
int session_plan(struct session *s, struct err *err);

/** Pass the settings to the flow, for flow_derive(). Returns 0; -EINVAL. */
int session_wants(struct session *s, struct err *err);

/** Derive the variables and apply the directives. Returns 0; -EINVAL, -E2BIG, or the error of a file. */
int session_derive(struct session *s, struct err *err);

/** Begin the report, if --report asks for one. Call it after session_options(). (report.c) */
void session_report_open(struct session *s);

/** report_end() for this session: print a failure as a warning. */
void session_report_end(struct session *s, struct report_line *line);

/** Whether --for=all is wanted, also by --together. */
bool session_calls_roll(const struct session *s);

/** The variables read of managers and launchers, then NULL, in the form of READS(). (bundle.c) */
const char *const *own_variables(struct session *s);

/** What set option @id, for messages: "--wait" or "DISTINIT_WAIT". */
static inline const char *session_label(struct session *s, enum option_id id) {
	return settings_label(&s->settings, id);
}

/** Option @id with who set it. */
struct setting session_setting(struct session *s, enum option_id id);

/** Print the message in @err. Returns the exit status. */
static inline int session_fail(struct session *s, const struct err *err) {
	return say_failure(&s->speaker, err);
}
