// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The subcommands, each in a file of its name. All return the status to exit with. */

#include "distinit/session.h"
#include "init/init.h"

struct subcommand {
	/** NULL for the entrypoint. */
	const char *name;
	enum command command;
	/** What follows the options, for the usage line. */
	const char *arguments;
	/** One line for --help. */
	const char *about;
	int (*run)(struct session *s);
};

/** The entrypoint first; ended by an entry of zeros. */
extern const struct subcommand subcommands[];

/** Derive, override, and become the workload. */
int command_run(struct session *s);
int command_env(struct session *s);
int command_explain(struct session *s);
int command_wait(struct session *s);
int command_install(struct session *s);
int command_bundle(struct session *s);
int command_hosts(struct session *s);
int command_sources(struct session *s);
int command_frameworks(struct session *s);

/**
 * --wait: wait for the master, if that was asked for and there is one to wait for; after session_derive().
 * Returns 0 to go on; the status to exit with otherwise, once the reason was said. Where a signal ended the wait, it ends this process
 * too.
 */
int session_wait(struct session *s);

/**
 * Turn the settings into the plan of --init. *@wanted: whether to stay at all; the options are checked in any case.
 * Returns 0; -EINVAL.
 */
int read_init_plan(struct session *s, struct init_plan *plan, bool *wanted, struct err *err);

/** Print the help on @of: the entrypoint's, which is the program's, or a subcommand's. */
int print_help(struct session *s, const struct subcommand *of);

/** The variables that managers and launchers are read from, then NULL; names as READS() has them. */
const char *const *own_variables(struct session *s);

struct process_report;

/** `explain` in its two formats. */
void explain_text(struct session *s, const struct process_report *process, struct buf *out);
void explain_json(struct session *s, const struct process_report *process, struct buf *out);

/** Where nothing is recognised: say which managers nearly are, and what --read could say. */
void explain_unknown(struct session *s, struct buf *out);

/** Whether @word is one of those in @text: letters only, whatever their case; or, where @name, a variable's name. */
bool explain_has_word(struct str text, struct str word, bool name);

/**
 * Write what was read as a case for tests/vectors/run.py, with the answer behind it. Words and
 * addresses are replaced, secrets are left out. Call it instead of session_derive(): it derives
 * twice, the second time from what it has written. A cluster that is refused makes a case, too.
 * Returns 0; -EINVAL for options that are wrong.
 */
int explain_vector(struct session *s, struct buf *out, struct err *err);

/** What `explain` tells of the process, before the flow. Returns 0 or a negative errno. */
int explain_process(struct session *s, struct process_report **out, struct err *err);

/** And of the workload, behind the flow. That it cannot be started is told, and no failure. */
void explain_workload(struct session *s, struct process_report *report);

void explain_process_text(struct session *s, const struct process_report *report, struct buf *out);
/** An object, behind its key. */
void explain_process_json(const struct process_report *report, struct buf *out);
