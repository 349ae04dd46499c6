// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The subcommands, each in a file of its name. All return the exit status. */

#include "base/nearest.h"
#include "distinit/session.h"

struct subcommand {
	/** NULL for the entrypoint. */
	const char *name;
	enum command command;
	/** The arguments after the options, for the usage line. Empty: there are none. */
	const char *arguments;
	/** One line for --help; NULL: another name, which is not listed. */
	const char *about;
	int (*run)(struct session *s);
};

/** The entrypoint is first; an entry of zeros is last. */
extern const struct subcommand subcommands[];

/** The subcommand @name, or NULL. */
const struct subcommand *subcommand_find(const char *name);

/** The subcommand that is most like @name, for a message. */
struct hint subcommand_hint(const char *name);

int command_run(struct session *s);
int command_env(struct session *s);
int command_explain(struct session *s);
int command_wait(struct session *s);
/** Exits with 1 if there is a finding. */
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

/** env.c: check --format. Returns 0; -EINVAL. */
int check_env_format(struct session *s, struct err *err);

/** env.c: write the variables to --output or stdout, in --format. Returns the exit status. */
int write_env(struct session *s);

/** Print the help of the subcommand @word; "" is the short one of the program, "all" the long one. */
int print_help_on(struct session *s, const char *word);

/** What the short help begins with, and all that is said of an empty command line. */
#define HELP_EXAMPLES \
	"  distinit -- torchrun train.py   start it, with the variables that it reads\n" \
	"  distinit explain                show them, and why they are so; nothing starts\n"
