// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Options, for any program: parsing, --help and the variables all follow from its table.
 *
 * An option that may also be told by a variable is called the program's prefix and its name in upper case, with '_' for '-':
 * --job-time-sec by DISTRUN_JOB_TIME_SEC. The option beats the variable.
 */

#include "base/buf.h"
#include "base/err.h"
#include "base/notes.h"
#include "env/env.h"

/** What follows the name of an option. */
enum option_takes {
	TAKES_FLAG,
	TAKES_TEXT,
	/** A text in the same word ("--wait=5m"), or none, and then the value is "". Its variable may be a flag's word. */
	TAKES_OPTIONAL,
	/** A text; several are joined by ','. */
	TAKES_LIST,
	/** A text; each one of the command line goes to the table's take(). Its variable is a value like others. */
	TAKES_EACH,
	/** Two words (mpirun's --prepend-env NAME[c] VALUE); for take(). */
	TAKES_PAIR,
};

struct option {
	/** Without the dashes; NULL: a variable only. */
	const char *name;
	/** A letter, or 0. */
	char letter;
	/** Below the table's `n_values`: where its value goes. Several entries may have one: other spellings. From there on: for take(). */
	uint16_t id; // so that an entry takes 40 bytes; tables are long
	enum option_takes takes;
	/** The subcommands that take it: flags of the program's own. 0 ends the table. */
	unsigned commands;
	/** Whether there is a variable. */
	bool variable;
	/** Name of the argument in --help, and the help; a NULL help hides it. */
	const char *argument;
	const char *help;
};

/** What is no id: for a table that has not got such an option. */
#define OPTION_NONE (~0U)

struct settings;

struct option_table {
	/** Ended by an entry of zeros. */
	const struct option *options;
	/** The program's name, for messages, and the prefix of its variables, such as "DISTRUN_". */
	const char *program;
	const char *prefix;
	/** The variable of an option without a name, in lower case; NULL where there is none. */
	const char *unnamed;
	/** How many ids have a value. */
	unsigned n_values;
	/** The ids of the flag that counts how often it was given (-vv), and of the one that keeps the variables; or OPTION_NONE. */
	unsigned verbose;
	unsigned keep;
	/** The id whose variable the workload gets too, as it is meant for it as much as for us; or OPTION_NONE. */
	unsigned passed_on;
	/** '_' is as good as '-' in the name of an option: --job_time_sec. */
	bool underscores;
	/**
	 * Take what is no plain value, in the order of the command line. @value is the argument, "" for a flag. @next: for TAKES_PAIR the
	 * second word; otherwise the word behind, which is not taken and there for hints, or NULL. May be NULL where no option needs it.
	 * Returns 0; -EINVAL.
	 */
	int (*take)(void *context, const struct option *option, const char *value, const char *next,
		    struct err *err);
	/**
	 * Say why the command line forbids to read the variable of @option, as a clause; or NULL if
	 * it does not. May be NULL where no variable is ever refused.
	 */
	const char *(*refuses)(const struct settings *settings, const struct option *option);
};

/** What was asked for. */
struct settings {
	const struct option_table *table;
	struct arena *arena;
	/** By id: the text, "" for a flag that is on, or NULL. */
	const char **value;
	/** By id: the entry that told it on the command line; NULL: the value is the variable's. */
	const struct option **given;
	/** How often the flag `verbose` was given. */
	unsigned verbose;
	/** What follows the options, up to a NULL. */
	char **arguments;
	/** Whether "--" was there. */
	bool separated;
};

/**
 * Read the command line of @command (one flag) behind the subcommand's word: @argv ends with NULL. Options end at "--", which is
 * skipped, or at the first word that is none. @context is for take().
 * Returns 0; -EINVAL.
 */
int settings_read_words(struct settings *out, struct arena *arena, const struct option_table *table,
			unsigned command, char **argv, void *context, struct err *err);

/**
 * Read the program's variables in @env, and take them out of it unless they are to be kept. One that
 * is no setting gets a note and stays; one that the table refuses gets a note.
 * Returns 0; -EINVAL.
 */
int settings_read_variables(struct settings *settings, struct env *env, struct notes *notes, struct err *err);

/** What to call the option @id in a message: as it was spelt, "--hosts", or its variable, where that was it. */
const char *settings_label(const struct settings *settings, unsigned id);

static inline bool settings_on(const struct settings *settings, unsigned id) {
	return settings->value[id] != NULL;
}

/** Find the value of @id among @words, which ends with NULL. Returns its index; -EINVAL with the words. */
int settings_choose(const struct settings *settings, unsigned id, const char *const *words, struct err *err);

/** Read @id as a duration, in milliseconds. Where it is not given, *@ms stays. Returns 0; -EINVAL. */
int settings_duration(const struct settings *settings, unsigned id, uint64_t *ms, struct err *err);

/** Read @id as a whole number up to @max. Where it is not given, *@out stays. Returns 0; -EINVAL. */
int settings_number(const struct settings *settings, unsigned id, uint64_t max, uint64_t *out,
		    struct err *err);

/** Write the help on the options of @command, from the table. */
void options_write_help(struct buf *out, const struct option_table *table, unsigned command);

/** Read "1", "yes", "true", "on" and their opposites. Returns 1, 0, or -EINVAL. */
int option_flag(struct str value);

/** For the parts of this: the end of a table; a variable's name behind the prefix; whether @a is the option's name @name. */
static inline bool option_is_end(const struct option *option) {
	return !option->commands;
}

char *option_variable(struct arena *arena, const struct option_table *table, const struct option *option);

/**
 * Give @option the @value of a word or variable (NULL: a flag without one).
 * Returns 0; -EINVAL for a flag that is neither on nor off.
 */
int settings_set(struct settings *settings, const struct option *option, const char *value);
