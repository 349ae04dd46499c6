// SPDX-License-Identifier: Apache-2.0

#include "common/completion.h"

#include <errno.h>

/** Stands for the names of this machine's users: the shell lists them when it completes a word. */
#define USERS "@users"

/** Words that cannot be joined with others, so that they are offered as the first word of a list only. */
#define ALONE "all none"

static bool is_shown(const struct option *o, unsigned command) {
	return o->takes != TAKES_HEAD && (o->commands & command) && o->name && o->help;
}

static bool is_users(const struct option *o) {
	return o->words && strcmp(o->words, USERS) == 0;
}

/** Whether the value of @o may be several words, joined by ','. */
static bool is_list(const struct option *o) {
	return o->words && (o->takes == TAKES_LIST || strcmp(o->argument, "LIST") == 0);
}

static bool is_file(const struct option *o) {
	return o->argument && (strstr(o->argument, "FILE") || strstr(o->argument, "DIR") ||
			       strstr(o->argument, "GLOB") || strstr(o->argument, "PATH"));
}

/** List the words of @o, with blanks between them; "": none. */
static const char *words_of(const struct completion *of, const struct option *o, struct arena *arena) {
	struct buf words = BUF(arena);
	struct str rest = str_of(o->words ? o->words : ""), word;
	while (rest.len && str_cut(&rest, ' ', &word)) {
		buf_puts(&words, words.len ? " " : "");
		if (word.p[0] == '@' && !is_users(o)) {
			buf_puts(&words, of->words_of(arena, arena_text(arena, word.p + 1, word.len - 1)));
		} else {
			buf_put(&words, word);
		}
	}
	return buf_text(&words);
}

/** Append @text, with @before in front of each character that is in @special. */
static void put_escaped(struct buf *out, const char *text, const char *special, const char *before) {
	for (; *text; text++) {
		if (strchr(special, *text)) {
			buf_puts(out, before);
		}
		buf_putc(out, *text);
	}
}

static void put_names(struct buf *out, const struct completion *of) {
	for (size_t i = 1; i < of->n_subs; i++) {
		buf_putf(out, "%s%s", i > 1 ? " " : "", of->subs[i].name);
	}
}

/** Append the options of @command, with blanks between them. */
static void put_options(struct buf *out, const struct completion *of, unsigned command) {
	const char *between = "";
	for (const struct option *o = of->table->options; !option_is_end(o); o++) {
		if (is_shown(o, command)) {
			buf_putf(out, "%s--%s%s", between, o->name, o->takes == TAKES_FLAG ? "" : "=");
			between = " ";
		}
	}
}

static const char bash_begin[] =
	"	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} options "
	"values='' list='' i word\n"
	"	COMPREPLY=()\n"
	"	for ((i = 1; i < COMP_CWORD; i++)); do\n"
	"		if [[ ${COMP_WORDS[i]} == -- ]]; then\n"
	"			if ((i == COMP_CWORD - 1)); then\n"
	"				mapfile -t COMPREPLY < <(compgen -c -- \"$current\")\n"
	"			else\n"
	"				compopt -o default\n"
	"			fi\n"
	"			return\n"
	"		fi\n"
	"	done\n"
	"	# \"--for=dns\" is one word here, or three where '=' parts words.\n"
	"	if ((COMP_CWORD > 1)) && [[ $previous == = ]]; then\n"
	"		previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"	elif [[ $current == = ]]; then\n"
	"		current=''\n"
	"	fi\n"
	"	if [[ $current == --*=* ]]; then\n"
	"		previous=${current%%=*}\n"
	"	fi\n"
	"	case ${COMP_WORDS[1]}:$previous in\n";

static const char bash_values[] =
	"	esac\n"
	"	if [[ -n $values && $previous == --* ]]; then\n"
	"		local before=''\n"
	"		[[ $current != --*=* ]] || before=$previous=\n"
	"		if [[ -n $list && $current == *,* ]]; then\n"
	"			# Neither those that are there, nor those that stand alone.\n"
	"			before=${current%,*},\n"
	"			list=${before#--*=}\n"
	"			for word in $values; do\n"
	"				[[ \",${list}all,none,\" == *\",$word,\"* ]] || options+=\" $word\"\n"
	"			done\n"
	"			values=$options\n"
	"		fi\n"
	"		mapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$values\" -- "
	"\"${current#\"$before\"}\")\n"
	"		return\n"
	"	fi\n"
	"	case ${COMP_WORDS[1]} in\n";

static void put_bash_values(struct buf *out, const struct completion *of, const struct completed *sub) {
	for (const struct option *o = of->table->options; !option_is_end(o); o++) {
		if (is_shown(o, sub->command) && o->words) {
			buf_putf(out, "	%s:--%s) ", *sub->name ? sub->name : "*", o->name);
			if (is_users(o)) {
				buf_puts(out, "values=$(compgen -u)");
			} else {
				buf_putf(out, "values='%s'%s", words_of(of, o, out->arena),
					 is_list(o) ? " list=yes" : "");
			}
			buf_puts(out, " ;;\n");
		}
	}
}

static void put_bash(struct buf *out, const struct completion *of) {
	const char *name = of->table->program;
	buf_putf(out, "# bash completion for %s, as '%s completion bash' prints it.\n_%s() {\n%s", name, name,
		 name, bash_begin);
	for (size_t i = 1; i < of->n_subs; i++) {
		put_bash_values(out, of, &of->subs[i]);
	}
	put_bash_values(out, of, &of->subs[0]);
	buf_puts(out, bash_values);
	for (size_t i = 1; i < of->n_subs; i++) {
		buf_putf(out, "	%s) options=\"", of->subs[i].name);
		put_options(out, of, of->subs[i].command);
		buf_puts(out, "\" ;;\n");
	}
	buf_puts(out, "	*) options=\"");
	put_options(out, of, of->subs[0].command);
	buf_puts(out, " --\" ;;\n"
		      "	esac\n"
		      "	if ((COMP_CWORD == 1)) && [[ $current != -* ]] || [[ $COMP_CWORD:${COMP_WORDS[1]} == "
		      "2:help && $current != -* ]]; then\n"
		      "		mapfile -t COMPREPLY < <(compgen -W \"");
	put_names(out, of);
	buf_putf(out,
		 "\" -- \"$current\")\n"
		 "	elif [[ $COMP_CWORD:${COMP_WORDS[1]} == 2:completion && $current != -* ]]; then\n"
		 "		mapfile -t COMPREPLY < <(compgen -W 'bash zsh fish' -- \"$current\")\n"
		 "	elif [[ $current == -* ]]; then\n"
		 "		mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$current\")\n"
		 "		[[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace\n"
		 "	else\n"
		 "		compopt -o default\n"
		 "	fi\n"
		 "}\n"
		 "complete -F _%s %s\n",
		 name, name);
}

/** Append @text, escaped for a place inside of '...' in a specification of _arguments. */
static void put_zsh_text(struct buf *out, const char *text) {
	for (; *text; text++) {
		if (*text == '\'') {
			buf_puts(out, "'\\''");
		} else {
			buf_putf(out, "%s%c", strchr("[]:", *text) ? "\\" : "", *text);
		}
	}
}

/** Append the action that completes the argument of @o. */
static void put_zsh_action(struct buf *out, const struct completion *of, const struct option *o) {
	struct str rest = str_of(words_of(of, o, out->arena)), word;
	if (is_users(o)) {
		buf_puts(out, ":user:_users");
	} else if (is_list(o)) {
		// "all" and "none" exclude all other words; each other word excludes these two.
		buf_puts(out, ":value:_values -s , value");
		while (rest.len && str_cut(&rest, ' ', &word)) {
			bool alone = str_is(word, "all") || str_is(word, "none");
			buf_puts(out, alone ? " \"(*)" : " \"(" ALONE ")");
			put_zsh_text(out, arena_text(out->arena, word.p, word.len));
			buf_puts(out, "\"");
		}
	} else if (rest.len) {
		buf_puts(out, ":value:(");
		put_zsh_text(out, rest.p);
		buf_puts(out, ")");
	} else {
		buf_puts(out, is_file(o) ? ":value:_files" : ":value: ");
	}
}

static void put_zsh_option(struct buf *out, const struct completion *of, const struct option *o,
			   bool letter) {
	bool takes = o->takes != TAKES_FLAG;
	if (letter) {
		buf_putf(out, "\t\t'*-%c%s[", o->letter, takes ? "+" : "");
	} else {
		buf_putf(out, "\t\t'*--%s%s[", o->name, takes ? "=" : "");
	}
	put_zsh_text(out, o->help);
	buf_puts(out, "]");
	if (takes) {
		put_zsh_action(out, of, o);
	}
	buf_puts(out, "' \\\n");
}

static void put_zsh_arguments(struct buf *out, const struct completion *of, unsigned command,
			      const char *end) {
	buf_puts(out, "\t\t_arguments \\\n");
	for (const struct option *o = of->table->options; !option_is_end(o); o++) {
		if (is_shown(o, command)) {
			put_zsh_option(out, of, o, false);
		}
		if (is_shown(o, command) && o->letter) {
			put_zsh_option(out, of, o, true);
		}
	}
	buf_putf(out, "\t\t%s\n\t\t;;\n", end);
}

static void put_zsh(struct buf *out, const struct completion *of) {
	const char *name = of->table->program;
	buf_putf(out,
		 "#compdef %s\n# zsh completion for %s, as '%s completion zsh' prints it.\n_%s() {\n"
		 "	local -a subcommands\n"
		 "	local at=${words[(i)--]}\n"
		 "	if ((at < CURRENT)); then\n"
		 "		shift at words\n"
		 "		((CURRENT -= at))\n"
		 "		_normal\n"
		 "		return\n"
		 "	fi\n"
		 "	if [[ ( $CURRENT == 2 || $CURRENT:$words[2] == 3:help ) && $words[CURRENT] != -* ]]; "
		 "then\n"
		 "		subcommands=(\n",
		 name, name, name, name);
	for (size_t i = 1; i < of->n_subs; i++) {
		buf_putf(out, "\t\t'%s:", of->subs[i].name);
		put_zsh_text(out, of->subs[i].about);
		buf_puts(out, "'\n");
	}
	buf_puts(out, "		)\n"
		      "		_describe subcommand subcommands\n"
		      "		return\n"
		      "	fi\n"
		      "	case $words[2] in\n");
	for (size_t i = 1; i < of->n_subs; i++) {
		bool shells = strcmp(of->subs[i].name, "completion") == 0;
		buf_putf(out, "\t%s)\n\t\tshift words\n\t\t((CURRENT--))\n", of->subs[i].name);
		put_zsh_arguments(out, of, of->subs[i].command,
				  shells ? "'1:shell:(bash zsh fish)'" : "'*:file:_files'");
	}
	buf_puts(out, "\t*)\n");
	put_zsh_arguments(out, of, of->subs[0].command, "");
	buf_putf(out,
		 "	esac\n"
		 "}\n"
		 "# A file of fpath is the function's body; by 'source' it is only defined.\n"
		 "if [[ $funcstack[1] == _%s ]]; then\n"
		 "	_%s \"$@\"\n"
		 "else\n"
		 "	compdef _%s %s\n"
		 "fi\n",
		 name, name, name, name);
}

static void put_fish_quoted(struct buf *out, const char *text) {
	buf_putc(out, '\'');
	put_escaped(out, text, "\\'", "\\");
	buf_putc(out, '\'');
}

static void put_fish_option(struct buf *out, const struct completion *of, const struct completed *sub,
			    const struct option *o) {
	const char *name = of->table->program, *words = words_of(of, o, out->arena);
	buf_putf(out, "complete -c %s -n '__%s_is \"%s\"' -l %s", name, name, sub->name, o->name);
	if (o->letter) {
		buf_putf(out, " -s %c", o->letter);
	}
	if (is_users(o)) {
		buf_puts(out, " -x -a '(__fish_complete_users)'");
	} else if (is_list(o)) {
		buf_putf(out, " -x -a '(__%s_list %s)'", name, words);
	} else if (*words) {
		buf_putf(out, " -x -a '%s'", words);
	} else if (o->takes != TAKES_FLAG) {
		buf_puts(out, is_file(o) ? " -r -F" : " -x");
	}
	buf_puts(out, " -d ");
	put_fish_quoted(out, o->help);
	buf_putc(out, '\n');
}

static void put_fish(struct buf *out, const struct completion *of) {
	const char *name = of->table->program;
	struct buf names = BUF(out->arena);
	put_names(&names, of);
	buf_putf(out,
		 "# fish completion for %s, as '%s completion fish' prints it.\n"
		 "function __%s_is\n"
		 "	set -l words (commandline -opc)\n"
		 "	contains -- -- $words; and return 1\n"
		 "	test (count $words) -gt 1; and set -l first $words[2]\n"
		 "	contains -- \"$first\" %s; or set -l first ''\n"
		 "	test \"$first\" = \"$argv[1]\"\n"
		 "end\n",
		 name, name, name, buf_text(&names));
	buf_putf(out,
		 "function __%s_runs\n"
		 "	contains -- -- (commandline -opc)\n"
		 "end\n"
		 "# The words of a list that are not there yet; those that stand alone only as the first.\n"
		 "function __%s_list\n"
		 "	set -l before (commandline -tc | string replace -rf '(.*,)[^,]*' '$1' | string "
		 "replace -r -- '^--[^=]*=' '')\n"
		 "	set -l left $argv\n"
		 "	if test -n \"$before\"\n"
		 "		for word in " ALONE " (string split , -- $before)\n"
		 "			set left (string match -v -- \"$word\" $left)\n"
		 "		end\n"
		 "	end\n"
		 "	printf '%%s\\n' \"$before\"$left\n"
		 "end\n"
		 "complete -c %s -n __%s_runs -x -a '(__fish_complete_subcommand)'\n"
		 "complete -c %s -n '__%s_is \"\"' -n __fish_is_first_token -f -a '%s'\n",
		 name, name, name, name, name, name, buf_text(&names));
	for (size_t i = 1; i < of->n_subs; i++) {
		const char *sub = of->subs[i].name;
		const char *more = strcmp(sub, "help") == 0	    ? buf_text(&names)
				   : strcmp(sub, "completion") == 0 ? "bash zsh fish"
								    : NULL;
		if (more) {
			buf_putf(out, "complete -c %s -n '__%s_is \"%s\"' -f -a '%s'\n", name, name, sub,
				 more);
		}
	}
	for (size_t i = 0; i < of->n_subs; i++) {
		for (const struct option *o = of->table->options; !option_is_end(o); o++) {
			if (is_shown(o, of->subs[i].command)) {
				put_fish_option(out, of, &of->subs[i], o);
			}
		}
	}
}

int completion_put(struct buf *out, const struct completion *of, const char *shell, struct err *err) {
	static void (*const put[])(struct buf *, const struct completion *) = {put_bash, put_zsh, put_fish};
	static const char *const names[] = {"bash", "zsh", "fish"};
	for (size_t i = 0; shell && i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(shell, names[i]) == 0) {
			put[i](out, of);
			return 0;
		}
	}
	return err_set(err, EINVAL, "completion%s%s: expected a shell: bash, zsh or fish", shell ? " " : "",
		       shell ? quote_text(shell).s : "");
}
