// SPDX-License-Identifier: Apache-2.0

#include "distinit/subcommands.h"

#include "base/nearest.h"

#include <errno.h>

static const char entrypoint_end[] =
	"\n"
	"Most options can also be set by a variable: DISTINIT_MASTER_PORT for\n"
	"--master-port. DISTINIT_ENV holds directives, one per line. These variables are\n"
	"not passed on to the command, unless --keep-config is given.\n"
	"\n"
	"Exit status: the command's; 127: command not found; 126: found, but not\n"
	"executable; 125: an error of distinit, before the command was started; 124: the\n"
	"time limit ended it, or the master could not be reached in time (--wait).\n";

static void help_of_entrypoint(struct buf *out) {
	buf_puts(out, "usage: distinit [OPTION]... -- COMMAND [ARG]...\n"
		      "       distinit SUBCOMMAND [OPTION]...\n"
		      "\n"
		      "Derive the variables that training frameworks read (MASTER_ADDR, PET_*,\n"
		      "TF_CONFIG, ...) from those of the cluster manager, apply directives, and become\n"
		      "COMMAND.\n"
		      "\n"
		      "Subcommands (each has its own --help):\n");
	for (size_t i = 1; subcommands[i].name; i++) {
		if (subcommands[i].about) {
			buf_putf(out, "  %-22s  %s\n", subcommands[i].name, subcommands[i].about);
		}
	}
	options_write_help(out, &distinit_options, CMD_RUN);
	buf_puts(out, entrypoint_end);
}

int print_help(struct session *s, const struct subcommand *of) {
	struct buf out = BUF(&s->arena);
	if (!of->name) {
		help_of_entrypoint(&out);
		return say_result(&s->speaker, buf_str(&out));
	}
	buf_putf(&out, "usage: distinit %s [OPTION]...%s%s\n\n%s\n", of->name, *of->arguments ? " " : "",
		 of->arguments, of->about ? of->about : "another name of managers");
	options_write_help(&out, &distinit_options, of->command);
	return say_result(&s->speaker, buf_str(&out));
}

int command_help(struct session *s) {
	const char *word = s->settings.arguments[0];
	if (!word) {
		return print_help(s, &subcommands[0]);
	}
	const struct subcommand *of = subcommand_find(word);
	if (of && !s->settings.arguments[1]) {
		return print_help(s, of);
	}
	struct err err;
	struct nearest best = {.word = str_of(word)};
	for (size_t i = 1; subcommands[i].name; i++) {
		nearest_try(&best, subcommands[i].name);
	}
	if (of) {
		err_set(&err, EINVAL, "help takes one subcommand: distinit help %s", word);
	} else {
		err_set(&err, EINVAL, "help: %s is not a subcommand%s; see 'distinit help'",
			quote(str_of(word)).s, nearest_hint(&best, "").s);
	}
	return session_fail(s, &err);
}

int command_version(struct session *s) {
	return say_result(&s->speaker, STR("distinit " DISTINIT_VERSION "\n"));
}
