// SPDX-License-Identifier: Apache-2.0

/** Finds the name, and reads its options. */

#include "names/names.h"

#include "base/file.h"
#include "base/num.h"
#include "base/secret.h"
#include "priv/elevated.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static const struct disguise *const disguises[] = {
	&disguise_tini, &disguise_dumb_init, &disguise_catatonit, &disguise_gosu, &disguise_su_exec,
};

#define N_DISGUISES (sizeof(disguises) / sizeof(disguises[0]))

/** What comes after the last '/' of @path. */
static const char *base_name(const char *path) {
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

const struct disguise *disguise_of(const char *argv0) {
	struct str wanted = str_of(argv0 ? base_name(argv0) : ""), rest, name;
	bool own = str_eq(wanted, STR("distinit")); // as nearly always: compare no more
	for (size_t i = 0; wanted.len && !own && i < N_DISGUISES; i++) {
		rest = str_of(disguises[i]->names);
		while (str_cut(&rest, ' ', &name)) {
			if (str_eq(name, wanted)) {
				return disguises[i];
			}
		}
	}
	return NULL;
}

const char *disguise_names(struct arena *arena) {
	struct buf out = BUF(arena);
	for (size_t i = 0; i < N_DISGUISES; i++) {
		buf_puts(&out, disguises[i]->names);
	}
	return buf_text(&out);
}

/** Write the head of a message into @line, which has room for it. Returns its length. */
static size_t put_head(const struct guise *g, enum log_level level, char *line) {
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

void guise_say(const struct guise *g, enum log_level level, const char *format, ...) {
	if (level > g->level) {
		return;
	}
	// Not in the arena: an init may speak for years.
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
	write_all(level >= g->as->stdout_from ? 1 : 2, (struct str){line, len});
}

const char *guise_command(const struct guise *g) {
	return secret_text(&g->session->arena, g->session->settings.arguments[0]);
}

int guise_print(const struct guise *g, int fd, const char *text, const char *word, int status) {
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

/** Complain about an option, as getopt(3) does. */
static int refuse_option(const struct guise *g, const char *text, const char *option) {
	guise_print(g, 2, text, option, 1);
	return g->as->usage_after_error ? guise_print(g, g->as->usage_fd, g->as->usage, "", 1) : 1;
}

#define NEEDS_ARGUMENT "@: option requires an argument -- '#'\n"

static int obey(struct guise *g, const struct guise_option *option, const char *argument) {
	g->flags |= option->flag;
	g->level += option->raises;
	if (option->text) {
		return guise_print(g, option->fd, option->text, "", 0);
	}
	return option->obey ? option->obey(g, argument) : GO_ON;
}

/** Whether there is a row at @option, of a table that may be NULL. */
static bool is_option(const struct guise_option *option) {
	return option && (option->letter || option->variable);
}

/** Read the letters after a '-'. *@argv points after their word. */
static int read_letters(struct guise *g, const char *at, char ***argv) {
	int status = GO_ON;
	while (*at && status == GO_ON) {
		char letter[] = {*at++, '\0'};
		const struct guise_option *option = g->as->options;
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
		status = obey(g, option, argument);
	}
	return status;
}

/**
 * Find the option @name, without the dashes; NULL: it is unknown. The beginning of a name will do, as for
 * getopt_long(3), where the program abbreviates. *@n: how many begin so.
 */
static const struct guise_option *find_long(const struct disguise *as, struct str name, unsigned *n) {
	const struct guise_option *found = NULL;
	*n = 0;
	for (const struct guise_option *option = as->options; is_option(option); option++) {
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

/** Read @word, which begins with "--". *@argv points after it. */
static int read_long(struct guise *g, const char *word, char ***argv) {
	struct str name = str_of(word + 2);
	name.len = str_find(name, '=');
	unsigned n;
	const struct guise_option *option = find_long(g->as, name, &n);
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
	return obey(g, option, argument);
}

static int read_variables(struct guise *g) {
	int status = GO_ON;
	for (const struct guise_option *o = g->as->options; is_option(o) && status == GO_ON; o++) {
		struct str wanted = str_of(o->variable ? o->variable : ""), name;
		str_cut(&wanted, '=', &name);
		const char *value = o->variable ? env_find(&g->session->env, name) : NULL;
		if (value && (!wanted.p || str_is(wanted, value))) {
			status = obey(g, o, value);
		}
	}
	return status;
}

int guise_options(struct guise *g, char **argv) {
	int status = GO_ON;
	while (status == GO_ON && *argv && (*argv)[0] == '-' && (*argv)[1]) {
		const char *word = *argv++;
		if (strcmp(word, "--") == 0) {
			break;
		}
		status = word[1] == '-' ? read_long(g, word, &argv) : read_letters(g, word + 1, &argv);
	}
	g->command = argv;
	if (status == GO_ON && !*argv && !(g->flags & GUISE_PAUSES)) {
		return guise_print(g, g->as->usage_fd, g->as->usage, "", 1);
	}
	return status == GO_ON ? read_variables(g) : status;
}

int disguise_run(const struct disguise *as, struct session *s, char **argv) {
	struct guise g = {.as = as, .session = s, .called = base_name(argv[0]), .level = as->level};
	struct err err;
	if (elevated_check(&s->arena, &err) < 0) {
		guise_say(&g, LOG_ERROR, "%s", err.text);
		return 1;
	}
	return as->run(&g, argv + 1);
}
