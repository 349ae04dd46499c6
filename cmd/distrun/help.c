// SPDX-License-Identifier: Apache-2.0

#include "distrun/csrun.h"

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
			buf_putf(out, "  %-9s  %s\n", subcommands[i].name, subcommands[i].about);
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
