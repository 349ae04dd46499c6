// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * A run of the program, and its subcommands, each in a file of its name. Their functions return the exit
 * status.
 */

#include "common/say.h"
#include "distrun/options.h"

struct distrun_session {
	struct arena arena;
	/** The workload's environment: ours without the DISTRUN_* variables. */
	struct env env;
	struct notes notes;
	struct settings settings;
	struct speaker speaker;
	enum command command;
	/** The name of the subcommand in usage lines: "distrun exec", or "csrun_cpu". */
	const char *called;
	/** The exit status for a wrong command line: EXIT_OURS; 2 if called by an existing program's name. */
	int usage_status;
};

struct distrun_subcommand {
	/** NULL: the program itself. */
	const char *name;
	enum command command;
	/** The arguments after the options, for the usage line. */
	const char *arguments;
	/** One line for --help; NULL: --help does not list it. */
	const char *about;
	int (*run)(struct distrun_session *s);
	/** The name of an existing program that also runs this subcommand; NULL: none. */
	const char *program;
};

/** The subcommands: the program itself first, ended by an entry of zeros. */
extern const struct distrun_subcommand subcommands[];

int command_where(struct distrun_session *s);
int command_surrogate(struct distrun_session *s);
int command_exec(struct distrun_session *s);
int command_launch(struct distrun_session *s);
int command_analyze(struct distrun_session *s);
int command_probe(struct distrun_session *s);
int command_completion(struct distrun_session *s);

/**
 * Run @argv as a workload, with the surrogate step and the time limit of the options, for all subcommands that
 * have these options. Prints all messages. Returns the status to exit with.
 */
int workload_run(struct distrun_session *s, char *const argv[], char **envp);

/** Handle a command line without a subcommand: --help, --version, or an error. */
int command_none(struct distrun_session *s);

/** Print the help of @of. */
int print_help(struct distrun_session *s, const struct distrun_subcommand *of);

/** Print the message in @err and return the status to exit with. */
static inline int session_fail(struct distrun_session *s, const struct err *err) {
	return say_failure(&s->speaker, err);
}

/** Print the message in @err, about a wrong command line, and return the status to exit with. */
static inline int session_refuse(struct distrun_session *s, const struct err *err) {
	say_failure(&s->speaker, err);
	return s->usage_status;
}
