// SPDX-License-Identifier: Apache-2.0

/** Finds the alias by the name of the program, and reads its options. */

#include "names/names.h"

#include "base/file.h"
#include "base/num.h"
#include "base/secret.h"
#include "priv/elevated.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static const struct alias *const aliases[] = {
	&alias_tini, &alias_dumb_init, &alias_catatonit, &alias_gosu, &alias_su_exec,
};

#define N_ALIASES (sizeof(aliases) / sizeof(aliases[0]))

/** The part of @path after the last '/'. */
static const char *base_name(const char *path) {
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

const struct alias *alias_find(const char *argv0) {
	struct str wanted = str_of(argv0 ? base_name(argv0) : ""), rest, name;
	bool own = str_eq(wanted, STR("distinit")); // the usual case: skip the search
	for (size_t i = 0; wanted.len && !own && i < N_ALIASES; i++) {
		rest = str_of(aliases[i]->names);
		while (str_cut(&rest, ' ', &name)) {
			if (str_eq(name, wanted)) {
				return aliases[i];
			}
		}
	}
	return NULL;
}

const char *alias_names(struct arena *arena) {
	struct buf out = BUF(arena);
	for (size_t i = 0; i < N_ALIASES; i++) {
		buf_puts(&out, aliases[i]->names);
	}
	return buf_text(&out);
}

/** Write the head of a message to @line, which has to have room for it. Returns its length. */
static size_t put_head(const struct alias_run *g, enum log_level level, char *line) {
	size_t n = 0;
	for (const char *p = g->as->head; *p; p++) {
		if (*p == '@') {
			for (const char *word = g->as->words[level]; *word; word++) {
				line[n++] = *word;
			}
		} else if (*p == '#') {
			n += (size_t)snprintf(line + n, NUM_DIGITS + 1, "%d", getpid());
		} else {
			line[n++] = *p;
		}
	}
	return n;
}

void alias_log(const struct alias_run *g, enum log_level level, const char *format, ...) {
	if (level > g->level) {
		return;
	}
	// This is not in the arena, which would grow: an init may print messages for years.
	char line[800];
	size_t head = put_head(g, level, line), most = sizeof(line) - head - 1;
	va_list args;
	va_start(args, format);
	size_t len = (size_t)vsnprintf(line + head, most, format, args);
	va_end(args);
	len = head + (len < most ? len : most - 1);
	for (size_t i = head; i < len; i++) {
		line[i] = line[i] < ' ' || line[i] > '~' ? '?' : line[i];
	}
	line[len++] = '\n';
	const int fd = level >= g->as->stdout_from ? 1 : 2;
	const struct str text = {line, len};
	if (level == LOG_ERROR) {
		write_all(fd, text);
	} else {
		// Beside a program, nobody waits for who reads this.
		write_at_once(fd, text);
	}
}

const char *alias_command(const struct alias_run *g) {
	return secret_text(&g->session->arena, g->session->settings.arguments[0]);
}

int alias_print(const struct alias_run *g, int fd, const char *text, const char *word, int status) {
	struct buf out = BUF(&g->session->arena);
	for (const char *p = text; *p; p++) {
		if (*p == '@' || *p == '#') {
			buf_put_plain(&out,
				      str_of(*p == '@' ? g->called : secret_text(&g->session->arena, word)));
		} else {
			buf_putc(&out, *p);
		}
	}
	return write_all(fd, buf_str(&out)) < 0 ? 1 : status;
}

/** Print that an option is wrong, as getopt(3) does. Returns the status to exit with. */
static int refuse_option(const struct alias_run *g, const char *text, const char *option) {
	alias_print(g, 2, text, option, 1);
	return g->as->usage_after_error ? alias_print(g, g->as->usage_fd, g->as->usage, "", 1) : 1;
}

#define NEEDS_ARGUMENT "@: option requires an argument -- '#'\n"

/** Do what @option does. Returns GO_ON or the status to exit with. */
static int apply(struct alias_run *g, const struct alias_option *option, const char *argument) {
	g->flags |= option->flag;
	g->level += option->raises;
	if (option->text) {
		return alias_print(g, option->fd, option->text, "", 0);
	}
	return option->apply ? option->apply(g, argument) : GO_ON;
}

/** Whether @option is an entry, not the end of a table. NULL: there is no table. */
static bool is_option(const struct alias_option *option) {
	return option && (option->letter || option->variable);
}

/** Read the letters after a '-'. *@argv points after their word. Returns GO_ON or the status to exit with. */
static int read_letters(struct alias_run *g, const char *at, char ***argv) {
	int status = GO_ON;
	while (*at && status == GO_ON) {
		char letter[] = {*at++, '\0'};
		const struct alias_option *option = g->as->options;
		while (is_option(option) && option->letter != *letter) {
			option++;
		}
		if (!is_option(option)) {
			return refuse_option(g, "@: invalid option -- '#'\n", letter);
		}
		const char *argument = NULL;
		if (option->has_argument) {
			argument = *at ? at : **argv;
			if (!argument) {
				return refuse_option(g, NEEDS_ARGUMENT, letter);
			}
			*argv += *at == '\0';
			at = "";
		}
		status = apply(g, option, argument);
	}
	return status;
}

/**
 * Find the option @name, without the dashes; NULL: it is unknown. If @as has `abbreviates`, the beginning of a name is
 * enough, as for getopt_long(3). *@n: how many options match.
 */
static const struct alias_option *find_long(const struct alias *as, struct str name, unsigned *n) {
	const struct alias_option *found = NULL;
	*n = 0;
	for (const struct alias_option *option = as->options; is_option(option); option++) {
		if (option->name && str_is(name, option->name)) {
			*n = 1;
			return option;
		}
		if (option->name && as->abbreviates && name.len && str_starts(str_of(option->name), name)) {
			found = option;
			++*n;
		}
	}
	return found;
}

/** Read @word, which begins with "--". *@argv points after it. Returns GO_ON or the status to exit with. */
static int read_long(struct alias_run *g, const char *word, char ***argv) {
	struct str name = str_of(word + 2);
	name.len = str_find(name, '=');
	unsigned n;
	const struct alias_option *option = find_long(g->as, name, &n);
	if (n > 1) {
		return refuse_option(g, "@: option '#' is ambiguous\n", word);
	}
	const char *argument = name.p[name.len] ? name.p + name.len + 1 : NULL;
	if (!option || (argument && !option->has_argument)) {
		return refuse_option(g, "@: unrecognized option '#'\n", word);
	}
	if (option->has_argument && !argument && !(argument = *(*argv)++)) {
		return refuse_option(g, NEEDS_ARGUMENT, word);
	}
	return apply(g, option, argument);
}

static int read_variables(struct alias_run *g) {
	int status = GO_ON;
	for (const struct alias_option *o = g->as->options; is_option(o) && status == GO_ON; o++) {
		struct str wanted = str_of(o->variable ? o->variable : ""), name;
		str_cut(&wanted, '=', &name);
		const char *value = o->variable ? env_find(&g->session->env, name) : NULL;
		if (value && (!wanted.p || str_is(wanted, value))) {
			status = apply(g, o, value);
		}
	}
	return status;
}

int alias_read_options(struct alias_run *g, char **argv) {
	int status = GO_ON;
	while (status == GO_ON && *argv && (*argv)[0] == '-' && (*argv)[1]) {
		const char *word = *argv++;
		if (strcmp(word, "--") == 0) {
			break;
		}
		status = word[1] == '-' ? read_long(g, word, &argv) : read_letters(g, word + 1, &argv);
	}
	g->command = argv;
	if (status == GO_ON && !*argv && !(g->flags & ALIAS_PAUSES)) {
		return alias_print(g, g->as->usage_fd, g->as->usage, "", 1);
	}
	return status == GO_ON ? read_variables(g) : status;
}

int alias_main(const struct alias *as, struct session *s, char **argv) {
	struct alias_run g = {.as = as, .session = s, .called = base_name(argv[0]), .level = as->level};
	struct err err;
	if (elevated_check(&s->arena, &err) < 0) {
		alias_log(&g, LOG_ERROR, "%s", err.text);
		return 1;
	}
	return as->run(&g, argv + 1);
}
