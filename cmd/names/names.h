// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Aliases: the names of other programs under which distinit replaces them. If distinit is called as tini, it
 * takes tini's options and variables, and prints messages and exits as tini does.
 *
 *     names.c                               finds the alias, and reads its options
 *     init.c                                runs the aliases that are inits
 *     tini.c, dumb_init.c, catatonit.c      an init each: its texts, and its differences
 *     gosu.c                                gosu and su-exec, which change the user
 *
 * The aliases that are inits also derive variables, as distinit does. If no manager is recognised, this
 * changes nothing.
 *
 * The Meson option `names` leaves this folder out.
 */

#include "distinit/session.h"
#include "init/init.h"

struct alias;

#if defined(DISTINIT_NAMES) && !defined(DISTINIT_CORE)

/** Find the alias of @argv0, a path or a name; NULL: it is no alias. */
const struct alias *alias_find(const char *argv0);

/** Run as the alias @as. The caller has initialised @s. Returns the exit status. */
int alias_main(const struct alias *as, struct session *s, char **argv);

/** The names of all aliases, each followed by a blank. */
const char *alias_names(struct arena *arena);

#else

static inline const struct alias *alias_find(const char *argv0) {
	(void)argv0;
	return NULL;
}

static inline int alias_main(const struct alias *as, struct session *s, char **argv) {
	(void)as, (void)s, (void)argv;
	return 0;
}

static inline const char *alias_names(struct arena *arena) {
	(void)arena;
	return "";
}

#endif

// The rest of this header is for the files of this folder.

/** A level that no message has. */
#define LOG_NONE (LOG_DEBUG + 1)

/** A run as an alias. */
struct alias_run {
	const struct alias *as;
	struct session *session;
	/** The name by which we were called, without folders. */
	const char *called;
	/** The plan of an init. The options change it. */
	struct init_plan plan;
	struct observer observer;
	char **command;
	/** The most verbose level that is printed (enum log_level). */
	unsigned level;
	/** The signal of tini -p; 0: none. */
	int parent_signal;
	/** Bits of enum alias_flag. */
	unsigned flags;
	/** dumb-init: the signals that giving up the terminal will cause: bit N-1 stands for signal N. */
	uint64_t hand_off;
	/** The workload's pid; 0: it has not started. */
	int child;
};

/** What an option without an argument turns on. */
enum alias_flag {
	/** Send signals to the process group. */
	ALIAS_GROUP = 1 << 0,
	/** dumb-init: send signals to the command alone, which stays in our session. */
	ALIAS_SINGLE = 1 << 1,
	/** catatonit: run no command. */
	ALIAS_PAUSES = 1 << 2,
	/** tini: be a subreaper; warn when an orphan is reaped. */
	ALIAS_SUBREAPER = 1 << 3,
	ALIAS_WARNS = 1 << 4,
};

/** An option or a variable, and what it does. */
struct alias_option {
	/** The option's letter; 0: none. */
	char letter;
	bool has_argument;
	/** The long name without the dashes; NULL: none. */
	const char *name;
	/**
	 * "NAME": the variable, whose value is the argument; "NAME=VALUE": only this value counts; NULL: none.
	 */
	const char *variable;
	/** The flag to turn on; 0: none. */
	enum alias_flag flag;
	/** By how much to raise the level. */
	uint8_t raises;
	/** A text to print on `fd` before exiting with 0; NULL: none. */
	const char *text;
	int fd;
	/** A function to call; NULL: none. Returns GO_ON or the status to exit with. */
	int (*apply)(struct alias_run *g, const char *argument);
};

/** Returned in place of an exit status: go on. */
#define GO_ON (-1)

/** A program that distinit replaces, with one or more names. */
struct alias {
	/** The names, each followed by a blank. */
	const char *names;
	/** The name by which a container engine mounts its init into each container; NULL: none. */
	const char *engine;
	/** The options, ended by an entry of zeros; NULL: none. */
	const struct alias_option *options;
	/** Long options may be abbreviated. */
	bool abbreviates;
	/** The text for alias_print() if the command is missing, and its descriptor. */
	const char *usage;
	uint8_t usage_fd;
	/** Print `usage` also after the error for a wrong option. */
	bool usage_after_error;
	/** The beginning of each message: '@' stands for the level's word in `words`, '#' for our pid. */
	const char *head;
	const char (*words)[6];
	/** The texts before and after the command in the message that it cannot be executed. */
	const char *exec_before;
	const char *exec_after;
	/** The exit status in that case; 0: 127 for ENOENT, 126 for EACCES, else 1. */
	uint8_t exec_status;
	/** Messages of this level and the more verbose ones go to stdout; LOG_NONE: none. */
	uint8_t stdout_from;
	/** The level before options raise it. */
	uint8_t level;
	int (*run)(struct alias_run *g, char **argv);
	/** Called before the workload starts, with all signals blocked. */
	void (*prepare)(struct alias_run *g);
	/** Called for each event of the workload, as event() of an observer. */
	bool (*event)(struct alias_run *g, enum init_event event, int a, int b);
};

extern const struct alias alias_tini, alias_dumb_init, alias_catatonit, alias_gosu, alias_su_exec;

#define ALIAS_LICENCE "@ is distinit " DISTINIT_VERSION ", under the Apache License 2.0\n"

/** Print a message if its level is on. Control characters become '?'. */
void alias_log(const struct alias_run *g, enum log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** The name of the command for messages, with secrets masked. */
const char *alias_command(const struct alias_run *g);

/**
 * Print @text, in which '@' stands for the name by which we were called, and '#' for @word. Returns @status; 1
 * on failure.
 */
int alias_print(const struct alias_run *g, int fd, const char *text, const char *word, int status);

/** Read the options in @argv, then the variables, and set `command`. Returns GO_ON or the status to exit with. */
int alias_read_options(struct alias_run *g, char **argv);

/** The `run` of all inits. */
int alias_run_init(struct alias_run *g, char **argv);
