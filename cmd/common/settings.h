// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Options of any program: parsing, --help and the variables follow from the program's table.
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
	/** A text in the same word ("--wait=5m"), or none: "". The variable may have a flag's value instead. */
	TAKES_OPTIONAL,
	/** A text. If the option is repeated, the texts are joined by ','. */
	TAKES_LIST,
	/** A text. Each option of the command line goes to take(); the variable is stored as others are. */
	TAKES_EACH,
	/** Two words, which go to take(), as in PRRTE's --prepend-env NAME[c] VALUE. */
	TAKES_PAIR,
	/** Not an option: see OPTION_HEAD(). */
	TAKES_HEAD,
};

struct option {
	/** The name without the dashes; NULL: there is only a variable. */
	const char *name;
	/** The letter; 0: none. */
	char letter;
	/**
	 * Below `n_values`: the index of the value, which all spellings of an option share. Other ids go to
	 * take().
	 */
	unsigned id;
	enum option_takes takes;
	/** The subcommands that have this option, as flags that the program defines. 0 ends the table. */
	unsigned commands;
	/** The option has a variable. */
	bool variable;
	/** The argument's name in --help, and the help; help NULL: --help hides the option. */
	const char *argument;
	const char *help;
	/**
	 * The words that the argument can be, with blanks between them; NULL: any text. "@NAME" stands for words from
	 * the program's tables, "@users" for the users of the machine.
	 */
	const char *words;
};

/** An entry that is not an option: the heading of the options that follow in --help. */
#define OPTION_HEAD(commands, text) \
	{ NULL, 0, 0, TAKES_HEAD, commands, false, NULL, text }

/** In place of an id: the table has no such option. */
#define OPTION_NONE (~0U)

struct settings;

struct option_table {
	/** The options, ended by an entry of zeros. */
	const struct option *options;
	/** The program's name for messages, and the prefix of its variables, such as "DISTRUN_". */
	const char *program;
	const char *prefix;
	/** The name, in lower case, of the variable whose option has no name; NULL: none. */
	const char *unnamed;
	/** The number of ids that have a value: 0 to n_values - 1. */
	unsigned n_values;
	/** The ids of the flag that is counted (-vv), and of the flag that keeps variables; or OPTION_NONE. */
	unsigned verbose;
	unsigned keep;
	/** The id whose variable is read, and also stays in the workload's environment; or OPTION_NONE. */
	unsigned passed_on;
	/** The id whose variable distinit sets for the workload, so that it stays there, too; or OPTION_NONE. */
	unsigned told;
	/** Accept '_' for '-' in the name of an option, as torchrun does: --node_rank. */
	bool underscores;
	/**
	 * Called, in the order of the command line, for the options that are not stored as plain values. @value: the
	 * argument; "" for a flag. @next: the second word of TAKES_PAIR; for others, the next word, for hints only, or
	 * NULL. If no option needs it, NULL. Returns 0 or -EINVAL.
	 */
	int (*take)(void *context, const struct option *option, const char *value, const char *next,
		    struct err *err);
	/**
	 * Returns why the command line forbids the variable of @option, as a clause; NULL: it is allowed. @option is NULL
	 * for a variable that belongs to no option. If no variable is ever refused, NULL.
	 */
	const char *(*refuses)(const struct settings *settings, const struct option *option);
};

/** The options and variables of one run. */
struct settings {
	const struct option_table *table;
	struct arena *arena;
	/** Indexed by id: the text; "" for a flag that is on; NULL: not set. */
	const char **value;
	/** Indexed by id: the option on the command line; NULL: the value is from the variable, or not set. */
	const struct option **given;
	/**
	 * `bare`: the last option, without its optional value. `repeated`: an option given twice, with
	 * different values.
	 */
	const struct option *bare, *repeated;
	/** How often the flag `verbose` was given. */
	unsigned verbose;
	/**
	 * Read only the variables of these commands, and remove none, because another program needs them; 0:
	 * read all.
	 */
	unsigned only;
	/** The words after the options, ended by NULL. */
	char **arguments;
	/** `separated`: "--" was given. `any`: an option or variable was given. */
	bool separated, any;
};

/**
 * Read the command line of @command (one flag) after the subcommand's name. @argv ends with NULL. Options
 * end at "--", which is skipped, or at the first word that is not an option. take() gets @context. Returns 0
 * or -EINVAL.
 */
int settings_read_words(struct settings *out, struct arena *arena, const struct option_table *table,
			unsigned command, char **argv, void *context, struct err *err);

/**
 * Read the program's variables from @env, and remove them from it, unless the flag `keep` is on. Unknown
 * variables stay: warn about each of the first ones, and once about the rest. If the table refuses a
 * variable, ignore it and warn. Returns 0 or -EINVAL.
 */
int settings_read_variables(struct settings *settings, struct env *env, struct notes *notes, struct err *err);

/** Name the setting @id for messages: the option as it was spelt ("--hosts"), or the variable. */
const char *settings_label(const struct settings *settings, unsigned id);

static inline bool settings_on(const struct settings *settings, unsigned id) {
	return settings->value[id] != NULL;
}

/**
 * Find the index of @id's value in the words of its option; 0 if it is not set. On -EINVAL, @err lists the
 * words.
 */
int settings_choose(const struct settings *settings, unsigned id, struct err *err);

/** Read @id as a duration, in milliseconds. If it is not set, *@ms is unchanged. Returns 0 or -EINVAL. */
int settings_duration(const struct settings *settings, unsigned id, uint64_t *ms, struct err *err);

/** Read @id as a whole number up to @max. If it is not set, *@out is unchanged. Returns 0 or -EINVAL. */
int settings_number(const struct settings *settings, unsigned id, uint64_t max, uint64_t *out,
		    struct err *err);

/**
 * Append the help of @command's options, under their headings. @ids: only the options with these ids, a byte each, in
 * brief; {0}: all options.
 */
void options_write_help(struct buf *out, const struct option_table *table, unsigned command, struct str ids);

/**
 * Append the help of the options that @word names, with or without dashes. Returns whether there are any; *@nearest: the
 * option with the nearest name; NULL: none is near.
 */
bool options_write_one(struct buf *out, const struct option_table *table, const char *word,
		       const char **nearest);

/** Read "1", "yes", "true", "on" and their opposites. Returns 1, 0, or -EINVAL. */
int option_flag(struct str value);

// The rest of this header is for the files of this folder.

static inline bool option_is_end(const struct option *option) {
	return !option->commands;
}

/** Write the name of @option's variable, in the arena. */
char *option_variable(struct arena *arena, const struct option_table *table, const struct option *option);

/** Whether the table's prefix and @suffix make the name of @option's variable. */
bool option_is_variable(const struct option_table *table, const struct option *option, struct str suffix);

/** Set @option to @value; NULL: turn a flag on. Returns 0; -EINVAL if a flag's value is neither on nor off. */
int settings_set(struct settings *settings, const struct option *option, const char *value);
