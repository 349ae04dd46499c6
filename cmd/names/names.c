// SPDX-License-Identifier: Apache-2.0

/** Finds the name, and reads its options. */

#include "names/names.h"

#include "base/file.h"
#include "base/format.h"
#include "base/num.h"

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
	for (size_t i = 0; wanted.len && i < N_DISGUISES; i++) {
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

int disguise_run(const struct disguise *as, struct session *s, char **argv) {
	struct guise g = {.as = as, .session = s, .called = base_name(argv[0]), .level = as->level};
	return as->run(&g, argv + 1);
}

/** Write the head of a message into @line, which has room for it. Returns its length. */
static size_t put_head(const struct guise *g, enum speech level, char *line) {
	const struct disguise *as = g->as;
	const char *parts[] = {as->open, as->words[level], as->middle};
	size_t n = 0;
	for (size_t i = 0; i < (as->middle ? 3 : 1); i++) {
		size_t len = strlen(parts[i]);
		memcpy(line + n, parts[i], len);
		n += len;
	}
	if (as->middle) {
		n += num_write(line + n, (uint64_t)getpid());
		memcpy(line + n, as->close, strlen(as->close));
		n += strlen(as->close);
	}
	return n;
}

void guise_say(const struct guise *g, enum speech level, const char *format, ...) {
	if (level > g->level) {
		return;
	}
	// Not in the arena: an init may speak for years.
	char line[800];
	size_t head = put_head(g, level, line), most = sizeof(line) - head - 1;
	va_list args;
	va_start(args, format);
	size_t len = format_text(line + head, most, format, args);
	va_end(args);
	len = head + (len < most ? len : most - 1);
	for (size_t i = head; i < len; i++) {
		line[i] = line[i] < ' ' || line[i] > '~' ? '?' : line[i];
	}
	line[len++] = '\n';
	write_all(level >= g->as->stdout_from ? 1 : 2, (struct str){line, len});
}

int guise_print(const struct guise *g, const struct disguise_text *text, int status) {
	struct buf out = BUF(&g->session->arena);
	for (const char *p = text->text; *p; p++) {
		if (*p == '@') {
			buf_put_plain(&out, str_of(g->called));
		} else {
			buf_putc(&out, *p);
		}
	}
	return write_all(text->fd, buf_str(&out)) < 0 ? 1 : status;
}

/** Complain about an option like getopt(3), without a prefix. @what may contain '@'. */
static int refuse_option(const struct guise *g, const char *what, struct str option) {
	struct buf line = BUF(&g->session->arena);
	buf_puts(&line, "@: ");
	buf_puts(&line, what);
	buf_put_plain(&line, option);
	buf_puts(&line, "'\n");
	guise_print(g, &(struct disguise_text){2, buf_text(&line)}, 1);
	return g->as->usage_after_error ? guise_print(g, &g->as->usage, 1) : 1;
}

/** Read the letters after a '-'. *@argv points after their word. */
static int read_letters(struct guise *g, const char *at, char ***argv) {
	int status = GO_ON;
	while (*at && status == GO_ON) {
		struct str letter = {at++, 1};
		const char *known = strchr(g->as->letters, *letter.p);
		if (!known || *known == ':') {
			return refuse_option(g, "invalid option -- '", letter);
		}
		const char *argument = NULL;
		if (known[1] == ':') {
			argument = *at ? at : **argv;
			if (!argument) {
				return refuse_option(g, "option requires an argument -- '", letter);
			}
			*argv += *at == '\0';
			at = "";
		}
		status = guise_obey(g, *letter.p, argument);
	}
	return status;
}

/** Read @word, which begins with "--". *@argv points after it. */
static int read_long(struct guise *g, const char *word, char ***argv) {
	static const struct {
		char name[13];
		char letter;
	} names[] = {
		{"help", 'h'}, {"single-child", 'c'}, {"rewrite", 'r'}, {"verbose", 'v'}, {"version", 'V'},
	};
	struct str name = str_of(word + 2);
	name.len = str_find(name, '=');
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *known = strchr(g->as->letters, names[i].letter);
		if (!known || !str_is(name, names[i].name)) {
			continue;
		}
		const char *argument = name.p[name.len] ? name.p + name.len + 1 : NULL;
		bool takes = known[1] == ':';
		if (argument && !takes) {
			return refuse_option(g, "option doesn't allow an argument: '", str_of(word));
		}
		if (takes && !argument && !(argument = *(*argv)++)) {
			return refuse_option(g, "option requires an argument: '", str_of(word));
		}
		return guise_obey(g, names[i].letter, argument);
	}
	return refuse_option(g, "unrecognized option '", str_of(word));
}

static int read_variables(struct guise *g) {
	int status = GO_ON;
	const struct disguise_variable *v = g->as->variables;
	for (; v && v->name && status == GO_ON; v++) {
		const char *value = env_get(&g->session->env, v->name);
		if (value && (!v->value || strcmp(value, v->value) == 0)) {
			status = guise_obey(g, v->letter, value);
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
	if (status == GO_ON && !*argv && !g->pauses) {
		return guise_print(g, &g->as->usage, 1);
	}
	return status == GO_ON ? read_variables(g) : status;
}
