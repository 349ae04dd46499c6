// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The subcommands, each in a file of its name. Their functions return the exit status. */

#include "base/nearest.h"
#include "distinit/session.h"

struct subcommand {
	/** NULL: the entrypoint. */
	const char *name;
	enum command command;
	/** The arguments after the options, for the usage line; "": none. */
	const char *arguments;
	/** One line for --help; NULL: --help does not list this name. */
	const char *about;
	int (*run)(struct session *s);
};

/** The subcommands: the entrypoint first, ended by an entry of zeros. */
extern const struct subcommand subcommands[];

/** Find the subcommand @name; NULL: there is none. */
const struct subcommand *subcommand_find(const char *name);

/** Suggest the subcommand with the name nearest to @name, for a message. */
struct hint subcommand_hint(const char *name);

int command_run(struct session *s);
int command_env(struct session *s);
int command_explain(struct session *s);
int command_wait(struct session *s);
/** Returns 1 if there is a finding. */
int command_check(struct session *s);
int command_install(struct session *s);
int command_bundle(struct session *s);
int command_carry(struct session *s, char **argv);
int command_hosts(struct session *s);
int command_managers(struct session *s);
int command_frameworks(struct session *s);
int command_completion(struct session *s);
int command_help(struct session *s);
int command_version(struct session *s);

/** env.c: check --format. Returns 0 or -EINVAL. */
int check_env_format(struct session *s, struct err *err);

/** env.c: write the variables to --output or stdout, in the --format. Returns the exit status. */
int write_env(struct session *s);

/** Print the help of @word, a subcommand or an option; "": the program's short help; "all": its long help. */
int print_help_on(struct session *s, const char *word);

/** The beginning of the short help. For an empty command line, nothing else is printed. */
#define HELP_EXAMPLES \
	"  distinit -- torchrun train.py   start it, with the variables that it reads\n" \
	"  distinit explain                show them, and why they are so; nothing starts\n"
