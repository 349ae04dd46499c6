// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The table of options: parsing, --help and the DISTINIT_* variables all follow from it.
 *
 * An option that may also be told by a variable is called DISTINIT_ and its name in upper case, with '_' for '-'. The option beats
 * the variable.
 */

#include "base/buf.h"
#include "base/err.h"
#include "base/notes.h"
#include "env/directive.h"

/** The words that take options; flags, so that an option can belong to several. */
enum command {
	CMD_RUN = 1,
	CMD_ENV = 2,
	CMD_EXPLAIN = 4,
	CMD_HOSTS = 8,
	CMD_TABLE = 16,
	CMD_WAIT = 32,
	CMD_INSTALL = 64,
	CMD_BUNDLE = 128,
};

enum option_id {
	OPT_CLUSTER,
	OPT_FRAMEWORKS,
	OPT_HOSTS,
	OPT_HOSTFILE,
	OPT_NODE_RANK,
	OPT_NNODES,
	OPT_MASTER_ADDR,
	OPT_MASTER_PORT,
	OPT_SCOPE,
	OPT_RANKS,
	OPT_TF_ROLES,
	OPT_HOSTFILE_OUTPUT,
	OPT_LENIENT,
	OPT_ENV_FILE,
	OPT_ENV_LINES,
	OPT_BUNDLE,
	OPT_APP,
	OPT_KEEP_CONFIG,
	OPT_USER,
	OPT_GROUPS,
	OPT_CAP_DROP,
	OPT_CAP_KEEP,
	OPT_NO_NEW_PRIVS,
	OPT_INIT,
	OPT_KILL_GROUP,
	OPT_SIGNAL,
	OPT_MAP_EXIT,
	OPT_GRACE,
	OPT_PDEATHSIG,
	OPT_TIME_LIMIT,
	OPT_LOG,
	OPT_VERBOSE,
	OPT_ROOT,
	OPT_HOSTNAME,
	OPT_WAIT,
	OPT_FOR,
	OPT_TIMEOUT,
	OPT_FORMAT,
	OPT_ALL,
	OPT_OUTPUT,
	OPT_SHOW_SECRETS,
	OPT_TRACK,
	OPT_FORCE,
	OPT_CARRY_UNSET,
	OPT_COUNT,
	OPT_FIRST,
	OPT_NTH,
	OPT_COMPRESS,
	OPT_HELP,
	OPT_VERSION,
	/** Those from here on are directives, OPT_VERBS + enum verb. */
	OPT_VERBS,
	N_VALUES = OPT_VERBS,
};

/** What follows the name of an option. */
enum option_takes {
	TAKES_FLAG,
	TAKES_TEXT,
	/** A text in the same word ("--wait=5m"), or none, and then the value is "". Its variable may be a flag's word. */
	TAKES_OPTIONAL,
	/** A text; several are joined by ','. */
	TAKES_LIST,
	/** mpirun's --prepend-env NAME[c] VALUE: two words. */
	TAKES_PAIR,
};

struct option {
	/** Without the dashes; NULL: a variable only. */
	const char *name;
	/** A letter, or 0. */
	char letter;
	/** An enum option_id, or OPT_VERBS + an enum verb. */
	unsigned id;
	enum option_takes takes;
	/** Flags of enum command. */
	unsigned commands;
	/** Whether there is a DISTINIT_* variable. */
	bool variable;
	/** Name of the argument in --help, and the help; a NULL help hides it. */
	const char *argument;
	const char *help;
	/** Whether the workload gets the variable too, as it is meant for it as much as for us. */
	bool passed_on;
};

/** The table, ended by an entry of zeros. */
extern const struct option options[];

/** What was asked for. */
struct settings {
	/** By option_id: the text, "" for a flag that is on, or NULL. That of OPT_ENV_FILE is the variable's. */
	const char *value[N_VALUES];
	/** By option_id: whether it was on the command line; otherwise the value is the variable's. */
	bool given[N_VALUES];
	/** The directives of the command line, in their order. */
	struct directives directives;
	/** --env-file, in their order. */
	const char **env_files;
	uint32_t n_env_files;
	/** How often -v was given. */
	unsigned verbose;
	/** What follows the options, up to a NULL; for the entrypoint, what follows "--". */
	char **arguments;
	/** Whether "--" was there. */
	bool separated;
};

/**
 * Read the command line behind the subcommand's word: @argv ends with NULL.
 * Returns 0; -EINVAL.
 */
int options_parse(struct arena *arena, enum command command, char **argv, struct settings *out,
		  struct err *err);

/**
 * Read the DISTINIT_* variables of @env, and take them out of it unless they are to be kept. One that is no setting gets
 * a note and stays.
 * Returns 0; -EINVAL.
 */
int options_read_variables(struct env *env, struct settings *settings, struct notes *notes, struct err *err);

/** What to call the option @id in a message: "--hosts", or "DISTINIT_HOSTS" where that was it. */
const char *option_label(struct arena *arena, const struct settings *settings, enum option_id id);

static inline bool option_is_on(const struct settings *settings, enum option_id id) {
	return settings->value[id] != NULL;
}

/** Write the help on the options of @command, from the table. */
void options_help(struct buf *out, enum command command);
