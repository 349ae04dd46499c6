// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Options, for any program. Parsing, --help and the variables all follow from the program's table.
 *
 * The variable of an option is the program's prefix and the option's name in upper case, with '_'
 * for '-': DISTRUN_JOB_TIME_SEC for --job-time-sec. The option overrides the variable.
 */

#include "base/buf.h"
#include "base/err.h"
#include "base/notes.h"
#include "env/env.h"

/** Which argument an option takes. */
enum option_takes {
	TAKES_FLAG,
	TAKES_TEXT,
	/** An optional text in the same word ("--wait=5m"), else "". A variable may hold a flag's value. */
	TAKES_OPTIONAL,
	/** A text; repeated options are joined by ','. */
	TAKES_LIST,
	/** A text. Each on the command line goes to take(); the variable is stored as any other. */
	TAKES_EACH,
	/** Two words, for take(), as in PRRTE's --prepend-env NAME[c] VALUE. */
	TAKES_PAIR,
	/** OPTION_HEAD(). */
	TAKES_HEAD,
};

struct option {
	/** Without the dashes; NULL if there is only a variable. */
	const char *name;
	/** A letter, or 0. */
	char letter;
	/** Below `n_values`: the index of its value, which spellings share. Other ids go to take(). */
	unsigned id;
	enum option_takes takes;
	/** The subcommands that take it, as flags that the program defines. 0 ends the table. */
	unsigned commands;
	/** Whether there is a variable. */
	bool variable;
	/** Name of the argument in --help, and the help; a NULL help hides it. */
	const char *argument;
	const char *help;
	/**
	 * The words that it takes, with a blank between; NULL: it takes others. "@NAME" stands for words
	 * that the program's tables have, "@users" for the machine's users.
	 */
	const char *words;
};

/** An entry that is no option: the head of those that follow in --help. */
#define OPTION_HEAD(commands, text) \
	{ NULL, 0, 0, TAKES_HEAD, commands, false, NULL, text }

/** Stands for an id where a table has no such option. */
#define OPTION_NONE (~0U)

struct settings;

struct option_table {
	/** Ended by an entry of zeros. */
	const struct option *options;
	/** For messages; and the prefix of its variables, such as "DISTRUN_". */
	const char *program;
	const char *prefix;
	/** The variable's name, in lower case, for the option without a name; NULL if there is none. */
	const char *unnamed;
	/** How many ids have a value. */
	unsigned n_values;
	/** The ids of the flag that is counted (-vv), and of the one that keeps variables; or OPTION_NONE. */
	unsigned verbose;
	unsigned keep;
	/** The id whose variable also stays in the workload's environment; or OPTION_NONE. */
	unsigned passed_on;
	/** The same of what distinit itself tells the workload. */
	unsigned told;
	/** Accept '_' for '-' in the name of an option, as torchrun does: --node_rank. */
	bool underscores;
	/**
	 * Receives, in the order of the command line, the options that are not stored as plain
	 * values. @value is the argument, "" for a flag. @next is the second word for TAKES_PAIR;
	 * otherwise the next word, for hints only, or NULL. May be NULL if no option needs it.
	 * Returns 0; -EINVAL.
	 */
	int (*take)(void *context, const struct option *option, const char *value, const char *next,
		    struct err *err);
	/**
	 * Returns why the command line forbids the variable of @option, as a clause; or NULL if it
	 * is allowed. @option is NULL for a variable that is no option's. May be NULL if no variable is
	 * ever refused.
	 */
	const char *(*refuses)(const struct settings *settings, const struct option *option);
};

/** The options and variables of one run. */
struct settings {
	const struct option_table *table;
	struct arena *arena;
	/** By id: the text, "" for a flag that is on, or NULL. */
	const char **value;
	/** By id: the entry that was used on the command line; NULL if the value is the variable's. */
	const struct option **given;
	/** The last option, if it could have had a value but has none; one whose first value does not count. */
	const struct option *bare, *repeated;
	/** How often the flag `verbose` was given. */
	unsigned verbose;
	/** Read only these commands' variables, and leave all for another program; 0: read all. */
	unsigned only;
	/** The words after the options; ends with NULL. */
	char **arguments;
	/** Whether "--" was there; whether an option has a value, or had one. */
	bool separated, any;
};

/**
 * Read the command line of @command (one flag) after the subcommand's name. @argv ends with NULL.
 * Options end at "--", which is skipped, or at the first word that is not an option. @context is
 * passed to take(). Returns 0; -EINVAL.
 */
int settings_read_words(struct settings *out, struct arena *arena, const struct option_table *table,
			unsigned command, char **argv, void *context, struct err *err);

/**
 * Read the program's variables from @env, and remove them from it unless they are to be kept. An
 * unknown variable stays, with a note for each of the first ones, and one for the rest. A variable that the table refuses is ignored, with a note.
 * Returns 0; -EINVAL.
 */
int settings_read_variables(struct settings *settings, struct env *env, struct notes *notes, struct err *err);

/** The name of setting @id for messages: the option as it was spelt ("--hosts"), or the variable. */
const char *settings_label(const struct settings *settings, unsigned id);

static inline bool settings_on(const struct settings *settings, unsigned id) {
	return settings->value[id] != NULL;
}

/** The index of @id's value in the words of its option: 0 if it is not set; -EINVAL lists the words. */
int settings_choose(const struct settings *settings, unsigned id, struct err *err);

/** Read @id in milliseconds. If it is not set, *@ms is unchanged. Returns 0; -EINVAL. */
int settings_duration(const struct settings *settings, unsigned id, uint64_t *ms, struct err *err);

/** Read @id as a whole number up to @max. If it is not set, *@out is unchanged. Returns 0; -EINVAL. */
int settings_number(const struct settings *settings, unsigned id, uint64_t max, uint64_t *out,
		    struct err *err);

/** Write the help of @command's options, from the table, under its heads. @ids: only these, a byte each, in brief; {0}: all. */
void options_write_help(struct buf *out, const struct option_table *table, unsigned command, struct str ids);

/** Write the options that @word names, with or without dashes. Returns whether there is one; *@nearest is the nearest, or NULL. */
bool options_write_one(struct buf *out, const struct option_table *table, const char *word,
		       const char **nearest);

/** Read "1", "yes", "true", "on" and their opposites. Returns 1, 0, or -EINVAL. */
int option_flag(struct str value);

/** The functions from here on are for the files of this folder. */
static inline bool option_is_end(const struct option *option) {
	return !option->commands;
}

/** The name of @option's variable, in the arena. */
char *option_variable(struct arena *arena, const struct option_table *table, const struct option *option);

/** Whether the table's prefix and @suffix are the name of @option's variable. */
bool option_is_variable(const struct option_table *table, const struct option *option, struct str suffix);

/** Set @option to @value, or, by NULL, a flag. Returns 0; -EINVAL: a flag is neither on nor off. */
int settings_set(struct settings *settings, const struct option *option, const char *value);
