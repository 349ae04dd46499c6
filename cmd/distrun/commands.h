// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The session (one run of the program), and its subcommands, each in a file of its name. All return
 * the status to exit with.
 */

#include "common/say.h"
#include "distrun/options.h"

struct session {
	struct arena arena;
	/** The environment without the DISTRUN_* variables: the workload gets this. */
	struct env env;
	struct notes notes;
	struct settings settings;
	struct speaker speaker;
	/** The name of the subcommand in usage lines: "distrun exec", or "csrun_cpu". */
	const char *called;
	/**
	 * The exit status for a wrong command line: EXIT_OURS; 2 under the names of existing
	 * programs.
	 */
	int usage_status;
};

struct subcommand {
	/** NULL for the program itself. */
	const char *name;
	enum command command;
	/** The arguments after the options, for the usage line. */
	const char *arguments;
	/** One line for --help; NULL: internal, not shown. */
	const char *about;
	int (*run)(struct session *s);
	/** The program name that also runs this subcommand; or NULL. */
	const char *program;
};

/** All subcommands; the program itself comes first. Ended by an entry of zeros. */
extern const struct subcommand subcommands[];

int command_where(struct session *s);
int command_surrogate(struct session *s);
int command_exec(struct session *s);
int command_launch(struct session *s);
int command_analyze(struct session *s);
int command_probe(struct session *s);

/**
 * Run @argv as a workload, with the step and the time limit of the options of `surrogate`. For all
 * subcommands that have these options.
 * Returns the status to exit with; all messages have been printed.
 */
int workload_run(struct session *s, char *const argv[], char **envp);

/** No subcommand: --help, --version, or an error. */
int command_none(struct session *s);

/** Print the help of @of. */
int print_help(struct session *s, const struct subcommand *of);

/** Print the message in @err and return the status to exit with. */
static inline int session_fail(struct session *s, const struct err *err) {
	return say_failure(&s->speaker, err);
}

/** The same, for a wrong command line. */
static inline int session_refuse(struct session *s, const struct err *err) {
	say_failure(&s->speaker, err);
	return s->usage_status;
}
