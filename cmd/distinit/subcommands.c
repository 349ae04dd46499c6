// SPDX-License-Identifier: Apache-2.0

/** The table of subcommands; prints --help, help and version from the tables. */

#include "distinit/subcommands.h"

#include "distinit/core.h"

#include <errno.h>

const struct subcommand subcommands[] = {
	{NULL, CMD_RUN, "-- COMMAND [ARG]...", "", command_run},
	{"env", CMD_ENV, "", "print the variables that would be added or changed", command_env},
	{"explain", CMD_EXPLAIN, "[-- COMMAND [ARG]...]",
	 "show what was recognised, and what set each variable", command_explain},
	{"wait", CMD_WAIT, "", "return once the master can be reached", command_wait},
#if defined(HAVE_ROLL_CALL) && !defined(DISTINIT_CORE)
	{"check", CMD_CHECK, "[-- COMMAND [ARG]...]", "compare this node with what was promised to it",
	 command_check},
#endif
	{"install", CMD_INSTALL, "DIR", "copy this program to DIR/distinit", command_install},
	{"bundle", CMD_BUNDLE, "", "write the tracked variables for a job's workers", command_bundle},
	// distrun uses this, so --help does not show it.
	{"carry", CMD_CARRY, "COMMAND [ARG]...", NULL, NULL},
	{"hosts", CMD_HOSTS, "[HOSTLIST]", "expand a host list (default: the cluster's hosts)",
	 command_hosts},
	{"managers", CMD_TABLE | CMD_LIST, "", "list the cluster managers and launchers", command_managers},
	// The name of `managers` until 0.2.
	{"sources", CMD_TABLE | CMD_LIST, "", NULL, command_managers},
	{"frameworks", CMD_TABLE | CMD_LIST, "", "list the frameworks and their variables",
	 command_frameworks},
	{"completion", CMD_TABLE, "bash|zsh|fish", "print the completion for a shell", command_completion},
	{"help", CMD_TABLE, "[SUBCOMMAND]", "print this help, or that of SUBCOMMAND", command_help},
	{"version", CMD_TABLE, "", "print the version", command_version},
	{0},
};

const struct subcommand *subcommand_find(const char *name) {
	for (const struct subcommand *sub = &subcommands[1]; sub->name; sub++) {
		if (strcmp(sub->name, name) == 0) {
			return sub;
		}
	}
	return NULL;
}

struct hint subcommand_hint(const char *name) {
	struct nearest best = {.word = str_of(name)};
	for (size_t i = 1; subcommands[i].name; i++) {
		nearest_try(&best, subcommands[i].name);
	}
	return nearest_hint(&best, "");
}

/** The options in the short help: those that most users need. */
static const unsigned char often[] = {
	OPT_CLUSTER, OPT_HOSTS,	   OPT_NODE_RANK,    OPT_MASTER_PORT, OPT_FRAMEWORKS, OPT_RANKS,   OPT_VERBS,
	OPT_FILL,    OPT_ENV_FILE, OPT_USER,	     OPT_WAIT,	      OPT_FOR,	      OPT_CHECK,   OPT_INIT,
	OPT_GRACE,   OPT_TOGETHER, OPT_MAX_RESTARTS, OPT_LOG,	      OPT_HELP,	      OPT_VERSION,
};
_Static_assert(VERB_SET == 0 && OPT_VERBS < 256, "--set is OPT_VERBS, and an id is a byte");

static const char entrypoint_end[] =
	"\n"
	"Most options can also be set by a variable: DISTINIT_MASTER_PORT for\n"
	"--master-port. DISTINIT_ENV holds directives, one per line. These variables are\n"
	"not passed on to the command, unless --keep-config is given.\n"
	"\n"
	"Exit status: the command's; 127: command not found; 126: found, but not\n"
	"executable; 125: an error of distinit, before the command was started; 124: the\n"
	"time limit ended it, or the master could not be reached in time (--wait); 123:\n"
	"ended because another node failed first (--together).\n";

static int help_of_entrypoint(struct session *s, bool all) {
	struct buf buf = BUF(&s->arena), *out = &buf;
	const struct str short_list = {(const char *)often, sizeof(often)}, whole = {0};
	buf_puts(out, "usage: distinit [OPTION]... -- COMMAND [ARG]...\n"
		      "       distinit SUBCOMMAND [OPTION]...\n"
		      "\n"
		      "Derive the variables that training frameworks read (MASTER_ADDR, PET_*,\n"
		      "TF_CONFIG, ...) from those of the cluster manager, apply directives, and become\n"
		      "COMMAND.\n"
		      "\n" HELP_EXAMPLES "\n"
		      "Subcommands (each has its own --help):\n");
	for (size_t i = 1; subcommands[i].name; i++) {
		if (subcommands[i].about) {
			buf_putf(out, "  %-22s  %s\n", subcommands[i].name, subcommands[i].about);
		}
	}
	options_write_help(out, &distinit_options, CMD_RUN, all ? whole : short_list);
	buf_puts(out,
		 all ? entrypoint_end : "\n'distinit --help=all' has all options and the exit statuses.\n");
	buf_puts(out, CORE_HELP);
	return say_result(&s->speaker, buf_str(out));
}

static int print_help(struct session *s, const struct subcommand *of) {
	struct buf out = BUF(&s->arena);
	buf_putf(&out, "usage: distinit %s [OPTION]...%s%s\n\n%s\n", of->name, *of->arguments ? " " : "",
		 of->arguments, of->about ? of->about : "another name of managers");
	options_write_help(&out, &distinit_options, of->command, (struct str){0});
	return say_result(&s->speaker, buf_str(&out));
}

int print_help_on(struct session *s, const char *word) {
	const struct subcommand *of = subcommand_find(word);
	if (of) {
		return print_help(s, of);
	}
	if (!*word || strcmp(word, "all") == 0) {
		return help_of_entrypoint(s, *word);
	}
	struct buf out = BUF(&s->arena);
	const char *nearest;
	if (options_write_one(&out, &distinit_options, word, &nearest)) {
		return say_result(&s->speaker, buf_str(&out));
	}
	struct err err;
	const struct hint hint = subcommand_hint(word);
	err_set(&err, EINVAL, "help: %s is neither a subcommand nor an option%s; see 'distinit help'",
		quote_text(word).s,
		nearest && !hint.s[0] ? arena_format(&s->arena, "; did you mean '--%s'?", nearest) : hint.s);
	return session_fail(s, &err);
}

int command_help(struct session *s) {
	char **words = s->settings.arguments;
	if (words[0] && words[1]) {
		struct err err;
		err_set(&err, EINVAL, "help takes one subcommand: distinit help %s", quote_text(words[0]).s);
		return session_fail(s, &err);
	}
	return print_help_on(s, words[0] ? words[0] : "");
}

int command_version(struct session *s) {
	return say_result(&s->speaker, STR(PROGRAM " " DISTINIT_VERSION "\n"));
}
