// SPDX-License-Identifier: Apache-2.0

/**
 * distrun: distinit's tools for Slurm, for batch scripts and login hosts. It is never an
 * entrypoint.
 *
 *     main.c         finds the subcommand
 *     subcommands.c  the table of subcommands; --help, from the tables
 *     options.c      the table of options
 *     where.c        prints where this process runs in Slurm
 *     workload.c     runs a command with a step that mirrors it, and a time limit; exec and launch use it, too
 *     exec.c         one command in a container (csrun_cpu)
 *     launch.c       a command in containers, several tasks on several nodes (csrun_wse)
 *     csrun.c        shared by these two: the site's settings, the container, its environment
 *     csrun_run.c    shared by these two: running the command
 *     completion.c   prints the completion for a shell
 *
 * The work is done in src/slurm/srun. cmd/distrun/analyze measures an input pipeline (cs_input_analyzer). cmd/common
 * has the code for options and messages, which other programs share.
 */

#include "distrun/commands.h"

#include "base/file.h"
#include "base/nearest.h"
#include "exec/exec.h"

#include <errno.h>
#include <stdalign.h>
#include <unistd.h>

static alignas(16) char memory[16 * 1024];

static _Noreturn void out_of_memory(size_t size) {
	(void)size;
	write_all(2, STR("distrun: error: out of memory\n"));
	_exit(EXIT_OURS);
}

static void session_init(struct distrun_session *s) {
	*s = (struct distrun_session){0};
	arena_init(&s->arena, memory, sizeof(memory), out_of_memory);
	s->notes.arena = &s->arena;
	s->speaker = (struct speaker){.program = "distrun", .log = LOG_WARN, .arena = &s->arena};
	env_init(&s->env, &s->arena, environ);
}

static int refuse_word(struct distrun_session *s, const char *word) {
	struct nearest best = {.word = str_of(word)};
	struct buf names = BUF(&s->arena);
	for (size_t i = 1; subcommands[i].name; i++) {
		if (subcommands[i].about) {
			nearest_try(&best, subcommands[i].name);
			buf_putf(&names, "%s%s", i > 1 ? ", " : "", subcommands[i].name);
		}
	}
	struct err err;
	err_set(&err, EINVAL, "%s is not a subcommand; %s%s%s", quote_text(word).s,
		best.found ? "did you mean '" : "expected one of: ",
		best.found ? best.found : buf_text(&names), best.found ? "'?" : "");
	return session_fail(s, &err);
}

int command_none(struct distrun_session *s) {
	struct err err;
	err_set(&err, EINVAL, "no subcommand; usage: distrun SUBCOMMAND [OPTION]... (see --help)");
	return session_fail(s, &err);
}

/** Read the command line after the subcommand, and our variables. Returns 0 or -EINVAL. */
static int read_options(struct distrun_session *s, enum command command, char **argv, struct err *err) {
	int r = settings_read_words(&s->settings, &s->arena, &distrun_options, command, argv, s, err);
	if (r == 0 && (settings_on(&s->settings, OPT_HELP) || settings_on(&s->settings, OPT_VERSION))) {
		return 0;
	}
	r = r < 0 ? r : settings_read_variables(&s->settings, &s->env, &s->notes, err);
	return r < 0 ? r : say_read_level(&s->speaker, &s->settings, OPT_LOG, err);
}

/** Find the subcommand for the program's name in @path, a symlink to this program; NULL: none. */
static const struct distrun_subcommand *by_program(const char *path) {
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	for (const struct distrun_subcommand *sub = subcommands; sub->run; sub++) {
		if (sub->program && strcmp(sub->program, name) == 0) {
			return sub;
		}
	}
	return NULL;
}

/** Set the name in messages, and the status for a wrong command line: existing programs exit with 2. */
static void be_called(struct distrun_session *s, const struct distrun_subcommand *sub, bool by_name) {
	s->command = sub->command;
	s->called = by_name	? sub->program
		    : sub->name ? arena_format(&s->arena, "distrun %s", sub->name)
				: "distrun";
	s->usage_status = by_name ? 2 : EXIT_OURS;
	if (by_name) {
		s->speaker.program = sub->program;
	}
}

/** Print the help of @word, a subcommand or an option; "": of @sub. */
static int print_help_on(struct distrun_session *s, const struct distrun_subcommand *sub, const char *word) {
	struct buf out = BUF(&s->arena);
	struct err err;
	const char *nearest;
	for (const struct distrun_subcommand *of = &subcommands[1]; *word && of->name; of++) {
		if (strcmp(of->name, word) == 0) {
			be_called(s, of, false);
			return print_help(s, of);
		}
	}
	if (!*word) {
		return print_help(s, sub);
	}
	if (options_write_one(&out, &distrun_options, word, &nearest)) {
		return say_result(&s->speaker, buf_str(&out));
	}
	err_set(&err, EINVAL, "help: %s is neither a subcommand nor an option%s%s%s; see 'distrun --help'",
		quote_text(word).s, nearest ? "; did you mean '--" : "", nearest ? nearest : "",
		nearest ? "'?" : "");
	return session_fail(s, &err);
}

int main(int argc, char **argv) {
	static struct distrun_session s;
	file_reserve_streams();
	session_init(&s);

	const struct distrun_subcommand *sub = argc > 0 ? by_program(argv[0]) : NULL;
	bool by_name = sub;
	sub = sub ? sub : &subcommands[0];
	char **options_at = argv + (argc > 0);
	if (!by_name && argc > 1 && strcmp(argv[1], "help") == 0) {
		be_called(&s, sub, false);
		return print_help_on(&s, sub, argc > 2 ? argv[2] : "");
	}
	if (!by_name && argc > 1 && argv[1][0] != '-') {
		for (sub++; sub->name && strcmp(sub->name, argv[1]) != 0; sub++) {
		}
		if (!sub->name) {
			return refuse_word(&s, argv[1]);
		}
		options_at++;
	}

	struct err err;
	be_called(&s, sub, by_name);
	if (read_options(&s, sub->command, options_at, &err) < 0) {
		return session_refuse(&s, &err);
	}
	if (settings_on(&s.settings, OPT_HELP)) {
		return print_help_on(&s, sub, s.settings.value[OPT_HELP]);
	}
	if (settings_on(&s.settings, OPT_VERSION)) {
		return say_result(&s.speaker, STR("distrun " DISTINIT_VERSION "\n"));
	}
	say_notes(&s.speaker, &s.notes);
	return sub->run(&s);
}
