// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The subcommands, each in a file of its name. All return the exit status. */

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
int command_help(struct session *s);
int command_version(struct session *s);

/** env.c: check --format. Returns 0; -EINVAL. */
int check_env_format(struct session *s, struct err *err);

/** env.c: write the variables to --output or stdout, in --format. Returns the exit status. */
int write_env(struct session *s);

/**
 * Print the help of @of, a subcommand or the entrypoint. The entrypoint's is that of the program.
 */
int print_help(struct session *s, const struct subcommand *of);
