// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * distinit under the names of other programs. Called as tini, it takes tini's options and variables,
 * and speaks, ends and exits as tini does.
 *
 *     names.c                               finds the name, and reads options, for all of them
 *     init.c                                runs those that are inits
 *     tini.c, dumb_init.c, catatonit.c      an init each: its texts, and in what it differs
 *     gosu.c                                gosu and su-exec, which change the user
 *
 * An init also derives, as any distinit: where no manager is recognised, this changes nothing.
 *
 * The Meson option `names` leaves this folder out.
 */

#include "distinit/session.h"
#include "init/init.h"

struct disguise;

#ifdef DISTINIT_NAMES

/** Find the row of @argv0, a path or a name; NULL: it is not one of these names. */
const struct disguise *disguise_of(const char *argv0);

/** Be that program. @s is initialised. Returns the exit status. */
int disguise_run(const struct disguise *as, struct session *s, char **argv);

/** All names, each followed by a blank. */
const char *disguise_names(struct arena *arena);

#else

static inline const struct disguise *disguise_of(const char *argv0) {
	(void)argv0;
	return NULL;
}

static inline int disguise_run(const struct disguise *as, struct session *s, char **argv) {
	(void)as, (void)s, (void)argv;
	return 0;
}

static inline const char *disguise_names(struct arena *arena) {
	(void)arena;
	return "";
}

#endif

/** Everything from here on is for the files of this folder. */

/** No message has this level. */
#define LOG_NONE (LOG_DEBUG + 1)

/** One run under another name. */
struct guise {
	const struct disguise *as;
	struct session *session;
	/** The name we were called by, without folders. */
	const char *called;
	/** For an init. The options write into the plan. */
	struct init_plan plan;
	struct observer observer;
	char **command;
	/** The most verbose level that is printed (enum log_level). */
	unsigned level;
	/** tini -p: a signal; 0: none. */
	int parent_signal;
	/** What is on: bits of enum guise_flag. */
	unsigned flags;
	/** dumb-init: the signals, as bits, that come from giving the terminal away. */
	uint64_t hand_off;
	/** The workload, once it runs. */
	int child;
};

/** What an option without an argument turns on. */
enum guise_flag {
	/** Signals go to the process group. */
	GUISE_GROUP = 1 << 0,
	/** dumb-init: to the command alone, which stays in our session. */
	GUISE_SINGLE = 1 << 1,
	/** catatonit: no command runs. */
	GUISE_PAUSES = 1 << 2,
	/** tini: be a subreaper; warn of an orphan that was reaped. */
	GUISE_SUBREAPER = 1 << 3,
	GUISE_WARNS = 1 << 4,
};

/** An option, or a variable that stands for one, and what it does. */
struct guise_option {
	/** 0: it has none. */
	char letter;
	bool has_argument;
	/** The long name without the dashes; NULL: none. */
	const char *name;
	/** The variable; with "=VALUE" if only that counts, else any does, as the argument. NULL: none. */
	const char *variable;
	/** Turn this on; 0: nothing. Raise the level by so much. */
	enum guise_flag flag;
	uint8_t raises;
	/** Print this text on `fd`, and exit with 0; NULL: do not. */
	const char *text;
	int fd;
	/** Or do this. Returns GO_ON or the status to exit with. */
	int (*obey)(struct guise *g, const char *argument);
};

/** What `obey` returns to go on. */
#define GO_ON (-1)

/** A program: a row for one or more names. */
struct disguise {
	/** The names, each followed by a blank. */
	const char *names;
	/** The one by which an engine mounts it into each container, or NULL. */
	const char *engine;
	/** Its options, and then an entry of zeros. NULL: it has none. */
	const struct guise_option *options;
	/** Whether long options may be abbreviated. */
	bool abbreviates;
	/** For a missing command, and where it goes: a text for guise_print(). */
	const char *usage;
	uint8_t usage_fd;
	/** Whether it also follows the error for a wrong option. */
	bool usage_after_error;
	/** What a message begins with: '@' is the word for its level, '#' our pid. */
	const char *head;
	const char (*words)[6];
	/** The text around the command in the message that it cannot be executed. */
	const char *exec_before;
	const char *exec_after;
	/** The status to exit with then; 0: 127 for ENOENT, 126 for EACCES, else 1. */
	uint8_t exec_status;
	/** The first level that goes to stdout, and the level at first. */
	uint8_t stdout_from;
	uint8_t level;
	int (*run)(struct guise *g, char **argv);
	/** Before the workload starts, with all signals blocked. */
	void (*prepare)(struct guise *g);
	/** Is told of what happens to the workload. */
	bool (*event)(struct guise *g, enum init_event event, int a, int b);
};

extern const struct disguise disguise_tini, disguise_dumb_init, disguise_catatonit, disguise_gosu,
	disguise_su_exec;

#define GUISE_LICENCE "@ is distinit " DISTINIT_VERSION ", under the Apache License 2.0\n"

/** Print a message, if its level is on. Control characters become '?'. */
void guise_say(const struct guise *g, enum log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** The name of the command, to be shown. */
const char *guise_command(const struct guise *g);

/** Print @text; '@' is the name we were called by, '#' is @word. Returns @status; 1 if writing failed. */
int guise_print(const struct guise *g, int fd, const char *text, const char *word, int status);

/** Read the options of @argv, then the variables, and set the command. Returns GO_ON or the exit status. */
int guise_options(struct guise *g, char **argv);

/** `run` of the rows. */
int guise_run_init(struct guise *g, char **argv);
