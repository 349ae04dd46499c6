// SPDX-License-Identifier: Apache-2.0
#pragma once

/** One call of the program, and its subcommands, each in a file of its name. All return the status to exit with. */

#include "common/say.h"
#include "distrun/options.h"

struct session {
	struct arena arena;
	/** Our environment without the DISTRUN_* variables: what the workload gets. */
	struct env env;
	struct notes notes;
	struct settings settings;
	struct speaker speaker;
	/** What the subcommand is called, for usage lines: "distrun exec", or "csrun_cpu". */
	const char *called;
	/** What to exit with where the command line is wrong: EXIT_OURS, or 2 under the names that others have given. */
	int usage_status;
};

struct subcommand {
	/** NULL for the program itself. */
	const char *name;
	enum command command;
	/** What follows the options, for the usage line. */
	const char *arguments;
	/** One line for --help; NULL: not for people. */
	const char *about;
	int (*run)(struct session *s);
	/** Another name of the program, by which it is this subcommand; or NULL. */
	const char *program;
};

/** The program itself first; ended by an entry of zeros. */
extern const struct subcommand subcommands[];

int command_where(struct session *s);
int command_surrogate(struct session *s);
int command_exec(struct session *s);
int command_launch(struct session *s);
int command_analyze(struct session *s);
int command_probe(struct session *s);

/**
 * Run @argv as a workload, with the step and the limit that the options of `surrogate` ask for: for all subcommands that take these.
 * Returns the status to exit with; what is to be said has been said.
 */
int session_run(struct session *s, char *const argv[], char **envp);

/** Without a subcommand: --help and --version, or an error. */
int command_none(struct session *s);

/** Print the help on @of. */
int print_help(struct session *s, const struct subcommand *of);

/** Print the sentence in @err and return the status to exit with. */
static inline int session_fail(struct session *s, const struct err *err) {
	return say_failure(&s->speaker, err);
}

/** The same for a command line that is wrong. */
static inline int session_refuse(struct session *s, const struct err *err) {
	say_failure(&s->speaker, err);
	return s->usage_status;
}
