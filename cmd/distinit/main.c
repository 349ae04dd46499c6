// SPDX-License-Identifier: Apache-2.0

/**
 * distinit: derives variables from a cluster's environment, and starts the workload.
 *
 *     main.c             finds the subcommand
 *     subcommands.c      the table of subcommands; --help, help and version, from the tables
 *     options.c          the table of options; handles directives and --env-file
 *     session.c          reads the options, and passes them to the flow (src/derive/flow)
 *     run.c              the entrypoint: the flow, then execve(), or --init
 *     fill.c             fills the words of the command (--fill)
 *     init_options.c     makes the plan of --init from the options
 *     report.c           the lines of --report, except those of src/system/init
 *     env.c              prints the variables that would be added or changed
 *     wait.c             waits for the master, as a subcommand and before the workload
 *     check.c            compares this node with what was promised to it
 *     install.c          copies this program into a volume
 *     bundle.c           writes the tracked variables, for workers
 *     carry.c            for distrun: hands variables of the host into a container
 *     core.c             for distinit-core: refuses what only the full program has
 *     completion.c       prints the completion for a shell
 *     hosts.c, tables.c  print host lists; the tables of managers and frameworks
 *
 * cmd/distinit/explain shows what was recognised, and what set each variable.
 * cmd/names runs this program under the names of other programs (tini, gosu).
 * cmd/common, which distrun uses too, reads options and DISTINIT_* variables and prints messages.
 */

#include "distinit/core.h"
#include "distinit/start.h"
#include "distinit/subcommands.h"
#include "names/names.h"

#include "base/file.h"
#include "base/secret.h"
#include "base/words.h"
#include "exec/exec.h"
#include "priv/elevated.h"

#include <errno.h>
#include <stdalign.h>

/** Memory for the arena. An ordinary run needs no more, so that it allocates none from the kernel. */
static alignas(16) char memory[16 * 1024];

/** Write a word of the command line. A word with special characters is quoted. */
static void put_word(struct buf *out, const char *word) {
	buf_puts(out, word_is_plain(word) ? word : quote_text(word).s);
}

/** Write the words of a command line, from @argv[@from] on, with a blank before each. */
static const char *put_words(struct session *s, char **argv, size_t from) {
	struct buf line = BUF(&s->arena);
	for (size_t i = from; argv[i] && line.len < 200; i++) {
		buf_putc(&line, ' ');
		put_word(&line, secret_word(&s->arena, argv, i));
	}
	return buf_text(&line);
}

/** Print an error that shows how to write the command line. */
static int refuse_word(struct session *s, char **argv) {
	// Other programs have a subcommand to run a command, followed by options or the command.
	bool run = strcmp(argv[1], "run") == 0 || strcmp(argv[1], "exec") == 0;
	bool options = run && argv[2] && argv[2][0] == '-';
	struct err err;
	if (run) {
		err_set(&err, EINVAL,
			"'%s' is not a subcommand, and none is needed to run a command: distinit%s%s",
			argv[1], options ? "" : " --", argv[2] ? put_words(s, argv, 2) : " COMMAND [ARG]...");
	} else {
		err_set(&err, EINVAL, "%s is not a subcommand%s; to run a command: distinit --%s",
			quote_text(argv[1]).s, subcommand_hint(argv[1]).s, put_words(s, argv, 1));
	}
	return session_fail(s, &err);
}

int main(int argc, char **argv) {
	static struct session s;
	file_reserve_streams();
	session_init(&s, memory, sizeof(memory));

	struct err err;
	if (core_check_word(argv[0], &err) < 0) {
		return session_fail(&s, &err);
	}
	const struct alias *as = alias_find(argv[0]);
	if (as) {
		return alias_main(as, &s, argv);
	}
	const struct subcommand *sub = &subcommands[0];
	char **options_at = argv + (argc > 0);
	if (argc > 1 && argv[1][0] != '-') {
		sub = subcommand_find(argv[1]);
		if (!sub) {
			if (core_check_word(argv[1], &err) < 0) {
				return session_fail(&s, &err);
			}
			return refuse_word(&s, argv);
		}
		options_at++;
	}

	if (elevated_check(&s.arena, &err) < 0) {
		return session_fail(&s, &err);
	}
	if (sub->command == CMD_CARRY) {
		return command_carry(&s, options_at);
	}
	if (session_options(&s, sub->command, options_at, &err) < 0) {
		if (sub->command == CMD_RUN) {
			log_termination(&s, &err);
		}
		return session_fail(&s, &err);
	}
	if (settings_on(&s.settings, OPT_HELP)) {
		return print_help_on(&s, sub->name ? sub->name : s.settings.value[OPT_HELP]);
	}
	if (settings_on(&s.settings, OPT_VERSION)) {
		return command_version(&s);
	}
	if (settings_on(&s.settings, OPT_DRY_RUN)) {
		sub = subcommand_find("explain");
		s.command = sub->command;
	}
	// Print notes on our variables first, because they help with errors that may follow. explain lists them.
	if (sub->command != CMD_EXPLAIN) {
		say_notes(&s.speaker, &s.notes);
	}
	if (!*sub->arguments && (s.settings.separated || s.settings.arguments[0])) {
		err_set(&err, EINVAL,
			"%s takes no command and no argument, only options; see 'distinit %s --help'",
			sub->name, sub->name);
		return session_fail(&s, &err);
	}
	int status = sub->run(&s);
	if (s.signal) {
		wait_die(s.signal); // which PID 1 survives
	}
	if (argc < 2) {
		write_all(2, STR(HELP_EXAMPLES));
	}
	return status;
}
