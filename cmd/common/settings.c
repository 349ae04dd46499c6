// SPDX-License-Identifier: Apache-2.0

/** Parses the command line, names settings, and checks values. */

#include "common/settings.h"

#include "base/duration.h"
#include "base/nearest.h"
#include "base/num.h"
#include "base/secret.h"

#include <errno.h>

/** The name, in lower case, from which the variable's name is made. */
static const char *variable_name(const struct option_table *table, const struct option *option) {
	return option->name ? option->name : table->unnamed;
}

bool option_is_variable(const struct option_table *table, const struct option *option, struct str suffix) {
	const char *name = variable_name(table, option);
	if (strlen(name) != suffix.len) {
		return false;
	}
	for (size_t i = 0; i < suffix.len; i++) {
		if (variable_char(name[i]) != suffix.p[i]) {
			return false;
		}
	}
	return true;
}

char *option_variable(struct arena *arena, const struct option_table *table, const struct option *option) {
	struct buf buf = BUF(arena);
	buf_puts(&buf, table->prefix);
	for (const char *name = variable_name(table, option); *name; name++) {
		buf_putc(&buf, variable_char(*name));
	}
	return buf_text(&buf);
}

const char *settings_label(const struct settings *settings, unsigned id) {
	const struct option *given = settings->given[id];
	if (given) {
		return arena_format(settings->arena, "--%s", given->name);
	}
	for (const struct option *o = settings->table->options; !option_is_end(o); o++) {
		if (o->id == id && o->variable) {
			return option_variable(settings->arena, settings->table, o);
		}
	}
	return settings->table->program;
}

int option_flag(struct str value) {
	static const char *const on[] = {"1", "yes", "true", "on", NULL}, *const off[] = {"0", "no", "false",
											  "off", NULL};
	return str_like_any(value, on) ? 1 : str_like_any(value, off) ? 0 : -EINVAL;
}

int settings_set(struct settings *settings, const struct option *option, const char *value) {
	if (option->takes == TAKES_FLAG || option->takes == TAKES_OPTIONAL) {
		int on = value ? option_flag(str_of(value)) : 1;
		if (on >= 0) {
			value = on ? "" : NULL;
		} else if (option->takes == TAKES_FLAG) {
			return on;
		}
	}
	const char *before = settings->value[option->id];
	if (option->takes == TAKES_LIST && before && settings->given[option->id]) {
		value = arena_format(settings->arena, "%s,%s", before, value);
	}
	settings->value[option->id] = value;
	settings->any = true;
	return 0;
}

/**
 * Options that users know from other commands or programs; and if our command has `option`, what to write
 * instead.
 */
static const struct {
	const char *word;
	const char *option;
	const char *write;
} habits[] = {
	{"--json", "format", "format=json"},
	{"--wait", "timeout", "timeout=DURATION"},
};

static int refuse_unknown(const struct settings *s, unsigned command, const char *word, struct err *err) {
	struct nearest best = {.word = str_of(word[1] == '-' ? word + 2 : word + 1)};
	best.word.len = str_find(best.word, '=');
	for (const struct option *o = s->table->options; !option_is_end(o); o++) {
		if (o->name && (o->commands & command) && best.word.len > 1) {
			nearest_try(&best, o->name);
		}
	}
	for (size_t i = 0; i < sizeof(habits) / sizeof(habits[0]); i++) {
		for (const struct option *o = s->table->options;
		     str_is((struct str){word, str_find(str_of(word), '=')}, habits[i].word) &&
		     !option_is_end(o);
		     o++) {
			if (o->name && (o->commands & command) && strcmp(o->name, habits[i].option) == 0) {
				return err_set(err, EINVAL, "unknown option %s; write --%s",
					       quote_text(word).s, habits[i].write);
			}
		}
	}
	return err_set(err, EINVAL, "unknown option %s%s; see --help", quote_text(word).s,
		       nearest_hint(&best, "--").s);
}

/** Whether @word names the option @name. */
static bool is_name(const struct option_table *table, struct str word, const char *name) {
	if (strlen(name) != word.len) {
		return false;
	}
	for (size_t i = 0; i < word.len; i++) {
		char c = table->underscores && word.p[i] == '_' ? '-' : word.p[i];
		if (c != name[i]) {
			return false;
		}
	}
	return true;
}

/** Find the option that @word names. *@value: its argument in the same word; NULL: none. */
static const struct option *find_option(const struct option_table *table, unsigned command, const char *word,
					const char **value) {
	struct str name = str_of(word + 2);
	name.len = str_find(name, '=');
	for (const struct option *o = table->options; !option_is_end(o); o++) {
		if (!o->name || !(o->commands & command)) {
			continue;
		}
		if (word[1] == '-' && is_name(table, name, o->name)) {
			*value = name.p[name.len] ? name.p + name.len + 1 : NULL;
			return o;
		}
		if (word[1] != '-' && o->letter && word[1] == o->letter) {
			*value = word[2] ? word + 2 : NULL;
			return o;
		}
	}
	return NULL;
}

/**
 * Pass @o to the table's take(). *@argv points after the argument @value; with TAKES_PAIR, move it past the
 * second word.
 */
static int hand_over(const struct settings *out, const struct option *o, const char *value, char ***argv,
		     void *context, struct err *err) {
	if (o->takes == TAKES_FLAG && value) {
		return err_set(err, EINVAL, "--%s takes no argument", o->name);
	}
	const char *next = **argv;
	if (o->takes == TAKES_PAIR) {
		if (!next) {
			return err_set(err, EINVAL, "--%s needs a name and a value", o->name);
		}
		(*argv)++;
	}
	return out->table->take(context, o, value ? value : "", next, err);
}

/** Read the option at *@argv, and advance *@argv past it and its argument. */
static int read_option(struct settings *out, unsigned command, char ***argv, void *context, struct err *err) {
	const char *word = *(*argv)++;
	const char *value;
	const struct option *o = find_option(out->table, command, word, &value);
	if (!o) {
		return refuse_unknown(out, command, word, err);
	}
	const bool needs_value = o->takes != TAKES_FLAG && o->takes != TAKES_OPTIONAL;
	if (word[1] != '-' && !needs_value && value) {
		// Only the same letter may follow: -vv.
		for (; *value == o->letter; value++) {
			out->verbose += o->id == out->table->verbose;
		}
		if (*value) {
			return refuse_unknown(out, command, word, err);
		}
		value = NULL;
	}
	out->bare = o->takes == TAKES_OPTIONAL && !value ? o : NULL;
	if (needs_value && !value) {
		value = **argv;
		if (!value || strcmp(value, "--") == 0) {
			return err_set(err, EINVAL, "--%s needs %s%s", o->name,
				       o->argument ? o->argument : "an argument",
				       value ? "; '--' follows it" : "");
		}
		(*argv)++;
	}
	if (o->id >= out->table->n_values || o->takes == TAKES_EACH) {
		return hand_over(out, o, value, argv, context, err);
	}
	if (o->takes == TAKES_TEXT && out->given[o->id] && strcmp(out->value[o->id], value) != 0) {
		out->repeated = o;
	}
	int r = settings_set(out, o, value);
	out->given[o->id] = o;
	out->verbose += o->id == out->table->verbose && settings_on(out, o->id);
	return r < 0 ? err_set(err, EINVAL, "%s: expected 1 or 0 after '='", quote_text(word).s) : 0;
}

int settings_read_words(struct settings *out, struct arena *arena, const struct option_table *table,
			unsigned command, char **argv, void *context, struct err *err) {
	*out = (struct settings){.table = table, .arena = arena};
	out->value = arena_array(arena, table->n_values, sizeof(*out->value));
	out->given = arena_array(arena, table->n_values, sizeof(void *));
	memset(out->value, 0, table->n_values * sizeof(*out->value));
	memset(out->given, 0, table->n_values * sizeof(void *));
	while (*argv && (*argv)[0] == '-' && (*argv)[1]) {
		if (strcmp(*argv, "--") == 0) {
			out->separated = true;
			argv++;
			break;
		}
		int r = read_option(out, command, &argv, context, err);
		if (r < 0) {
			return r;
		}
	}
	out->arguments = argv;
	return 0;
}

/** Find an entry of @id that has words: the given option; if that is another name without words, any other. */
static const struct option *option_of(const struct settings *settings, unsigned id) {
	const struct option *o = settings->given[id];
	o = o && o->words ? o : NULL;
	for (const struct option *row = settings->table->options; !o; row++) {
		o = row->takes != TAKES_HEAD && row->id == id && row->words ? row : NULL;
	}
	return o;
}

int settings_choose(const struct settings *settings, unsigned id, struct err *err) {
	const char *value = settings->value[id];
	struct nearest best = {.word = str_of(value)};
	struct buf all = BUF(settings->arena);
	if (!value) {
		return 0;
	}
	struct str rest = str_of(option_of(settings, id)->words), word;
	for (int i = 0; rest.len && str_cut(&rest, ' ', &word); i++) {
		if (str_is(word, value)) {
			return i;
		}
		nearest_try(&best, arena_text(settings->arena, word.p, word.len));
		buf_putf(&all, "%s%.*s", i ? ", " : "", (int)word.len, word.p);
	}
	return err_set(err, EINVAL, "%s=%s: expected one of %s%s", settings_label(settings, id),
		       quote_text(value).s, buf_text(&all), nearest_hint(&best, "").s);
}

int settings_duration(const struct settings *settings, unsigned id, uint64_t *ms, struct err *err) {
	const char *value = settings->value[id];
	int r = value ? duration_read(str_of(value), ms) : 0;
	if (r < 0) {
		err_set(err, EINVAL, "%s=%s is %s", settings_label(settings, id), quote_text(value).s,
			r == -ERANGE ? "longer than ten years (3650d)" : "not " DURATION_FORM);
	}
	return r < 0 ? -EINVAL : 0;
}

int settings_number(const struct settings *settings, unsigned id, uint64_t max, uint64_t *out,
		    struct err *err) {
	const char *value = settings->value[id];
	if (value && num_read(str_of(value), max, out) < 0) {
		return err_set(err, EINVAL, "%s=%s is not a whole number from 0 to %lu",
			       settings_label(settings, id), quote_text(value).s, (unsigned long)max);
	}
	return 0;
}
