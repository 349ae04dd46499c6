// SPDX-License-Identifier: Apache-2.0

/** The table of subcommands; prints --help from the tables. */

#include "distrun/csrun.h"

const struct distrun_subcommand subcommands[] = {
	{NULL, CMD_PROGRAM, "", "", command_none},
	{"where", CMD_WHERE, "", "show where this process runs in Slurm, and how that is known",
	 command_where},
	{"surrogate", CMD_SURROGATE, "-- COMMAND [ARG]...",
	 "run a command, with a job step that starts and ends with it", command_surrogate},
	{"exec", CMD_EXEC, "COMMAND [ARG]...",
	 "run a command in a container, on a node of its own (csrun_cpu)", command_exec, "csrun_cpu"},
	{"launch", CMD_LAUNCH, "COMMAND [ARG]...",
	 "run a command in containers, as tasks on several nodes (csrun_wse)", command_launch, "csrun_wse"},
	{"analyze", CMD_ANALYZE, "COMMAND [ARG]...",
	 "measure an input pipeline, suggest how to start it (cs_input_analyzer)", command_analyze,
	 "cs_input_analyzer"},
	{"completion", CMD_PROGRAM, "bash|zsh|fish", "print the completion for a shell", command_completion},
	{"probe", CMD_PROBE, "-- COMMAND [ARG]...", NULL, command_probe},
	{0},
};

static const char program_end[] =
	"\n"
	"A variable can replace each option with a value except --format: for --log,\n"
	"DISTRUN_LOG. Options override variables. Commands do not get these variables.\n"
	"\n"
	"Exit status: 125 for an error of distrun itself.\n";

static void help_of_program(struct buf *out) {
	buf_puts(out, "usage: distrun SUBCOMMAND [OPTION]...\n"
		      "\n"
		      "distinit's tools for Slurm, for batch scripts and login hosts.\n"
		      "\n"
		      "Subcommands (each has its own --help):\n");
	for (size_t i = 1; subcommands[i].name; i++) {
		if (subcommands[i].about) {
			buf_putf(out, "  %-10s  %s\n", subcommands[i].name, subcommands[i].about);
		}
	}
	buf_puts(out, "\nOptions:\n");
	options_write_help(out, &distrun_options, CMD_PROGRAM, (struct str){0});
	buf_puts(out, program_end);
}

/** Write the site's settings. */
static void help_of_site(struct distrun_session *s, struct buf *out) {
	struct csrun c;
	struct err err;
	if (csrun_site(&c, s, &err) < 0) {
		buf_putf(out, "\nThe site file cannot be read: %s\n", err.text);
		return;
	}
	if (!c.site.path) {
		buf_puts(out, "\nThere is no site file (/etc/distinit/site.conf, CSRUN_SITE, --site).\n");
		return;
	}
	buf_putf(out, "\nThe site's settings (%s):\n", c.site.path);
	for (int id = 0; id < SITE_N; id++) {
		if (c.site.value[id]) {
			buf_putf(out, "  %s=", site_names[id].file);
			word_put(out, c.site.value[id]);
			buf_putc(out, '\n');
		}
	}
}

int print_help(struct distrun_session *s, const struct distrun_subcommand *of) {
	struct buf out = BUF(&s->arena);
	if (!of->name) {
		help_of_program(&out);
		return say_result(&s->speaker, buf_str(&out));
	}
	buf_putf(&out, "usage: %s [OPTION]...%s%s\n\n%s\n\nOptions:\n", s->called, *of->arguments ? " " : "",
		 of->arguments, of->about ? of->about : "Internal part of distrun analyze.");
	options_write_help(&out, &distrun_options, of->command, (struct str){0});
	if (of->command & (CMD_EXEC | CMD_LAUNCH | CMD_ANALYZE)) {
		help_of_site(s, &out);
	}
	return say_result(&s->speaker, buf_str(&out));
}
