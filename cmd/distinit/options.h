// SPDX-License-Identifier: Apache-2.0
#pragma once

/** distinit's options: the subcommands that have them, and their ids. The table is in options.c. */

#include "common/settings.h"
#include "env/directive.h"

/** The subcommands, as flags: an option may belong to several. */
enum command {
	CMD_RUN = 1,
	CMD_ENV = 2,
	CMD_EXPLAIN = 4,
	CMD_HOSTS = 8,
	CMD_TABLE = 16,
	CMD_WAIT = 32,
	CMD_INSTALL = 64,
	CMD_BUNDLE = 128,
	CMD_CHECK = 256,
	/** No subcommand: an option that is a variable only. */
	CMD_NONE = 512,
	/**
	 * No subcommand: variables that are read when running as an engine's init. Other variables are for a distinit
	 * inside the container.
	 */
	CMD_ENGINE = 1024,
	/** All words after it are a command; it has no options. */
	CMD_CARRY = 2048,
	/** The subcommands that print a table. */
	CMD_LIST = 4096,
	/** Those that take all options of a run, and show or check what it would do. */
	CMD_SHOWS_RUN = CMD_EXPLAIN | CMD_CHECK,
	/** The subcommands that have --user and the other options of privileges. */
	CMD_PRIVILEGES = CMD_RUN | CMD_ENV | CMD_EXPLAIN | CMD_WAIT | CMD_CHECK,
};

enum option_id {
	OPT_CLUSTER,
	OPT_FRAMEWORKS,
	OPT_HOSTS,
	OPT_HOSTFILE,
	OPT_READ,
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
	OPT_OPTIONS_FROM,
	OPT_FILL,
	// OPT_USER to OPT_NO_NEW_PRIVS are the privileges: keep them together.
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
	OPT_LEFTOVERS,
	OPT_LEFTOVERS_GRACE,
	OPT_PDEATHSIG,
	OPT_TIME_LIMIT,
	OPT_PROGRESS,
	OPT_TOGETHER,
	OPT_MAX_RESTARTS,
	OPT_NO_RESTART,
	OPT_MAX_IDLE_STARTS,
	OPT_RESTART_COUNT,
	OPT_LINGER,
	OPT_LOG,
	OPT_REPORT,
	OPT_WHY,
	OPT_VERBOSE,
	OPT_QUIET,
	OPT_ROOT,
	OPT_HOSTNAME,
	OPT_WAIT,
	OPT_FOR,
	OPT_CHECK,
	OPT_EXPECT,
	OPT_CLEAR,
	OPT_TIMEOUT,
	OPT_AGREE,
	OPT_AGREE_ENV,
	OPT_JOB,
	OPT_SECRET,
	OPT_CARRIED,
	OPT_DERIVED,
	OPT_SECRET_FILE,
	OPT_SECRET_REQUIRED,
	OPT_FORMAT,
	OPT_COLOR,
	OPT_DRY_RUN,
	OPT_ALL_NODES,
	OPT_ALL,
	OPT_OUTPUT,
	OPT_MODE,
	OPT_SHOW_SECRETS,
	OPT_AS,
	OPT_TRACK,
	OPT_FORCE,
	OPT_CARRY_UNSET,
	OPT_COUNT,
	OPT_FIRST,
	OPT_NTH,
	OPT_COMPRESS,
	OPT_HELP,
	OPT_VERSION,
	/** From here on: directives, OPT_VERBS + enum verb. */
	OPT_VERBS,
	N_VALUES = OPT_VERBS,
};

extern const struct option_table distinit_options;

/** Find the first option of privileges on the command line, such as "--user"; NULL: none. */
const char *options_fixed_privilege(const struct settings *settings);

/** The options whose order counts. */
struct overrides {
	struct directives directives;
	/** The files of --env-file. Those of its variable are in the settings. */
	const char **env_files;
	uint32_t n_env_files;
};

/** Read the words after the name of @command. @argv ends with NULL. Returns 0 or -EINVAL. */
int options_read(struct settings *out, struct overrides *overrides, struct arena *arena, enum command command,
		 char **argv, struct err *err);
