// SPDX-License-Identifier: Apache-2.0

#include "env/directive.h"

#include "base/buf.h"
#include "base/nearest.h"
#include "base/secret.h"

#include <errno.h>

/**
 * The most bytes that one list may copy and compare: more than users need, and done in a fraction of a
 * second.
 */
#define EFFORT_MAX ((size_t)128 << 20)

/** The argument of a verb. */
enum takes {
	TAKES_NOTHING,
	TAKES_NAME,
	TAKES_VALUE,
	/** NAME=VALUE, where NAME may have a separator: NAME[;]=VALUE. */
	TAKES_ELEMENT,
};

static const struct {
	const char *word;
	const char *pmix_constant;
	const char *pmix_key;
	enum takes takes;
} verbs[] = {
	[VERB_SET] = {"set", "PMIX_SET_ENVAR", "pmix.envar.set", TAKES_VALUE},
	[VERB_ADD] = {"add", "PMIX_ADD_ENVAR", "pmix.envar.add", TAKES_VALUE},
	[VERB_UNSET] = {"unset", "PMIX_UNSET_ENVAR", "pmix.envar.unset", TAKES_NAME},
	[VERB_PREPEND] = {"prepend", "PMIX_PREPEND_ENVAR", "pmix.envar.prepnd", TAKES_ELEMENT},
	[VERB_APPEND] = {"append", "PMIX_APPEND_ENVAR", "pmix.envar.appnd", TAKES_ELEMENT},
	[VERB_FIRST] = {"first", "PMIX_FIRST_ENVAR", "pmix.envar.first", TAKES_ELEMENT},
	[VERB_CLEAN] = {"clean", NULL, NULL, TAKES_NOTHING},
	[VERB_PASS] = {"pass", NULL, NULL, TAKES_NAME},
};

#define N_VERBS (sizeof(verbs) / sizeof(verbs[0]))

bool verb_find(struct str word, enum verb *verb, const char **nearest) {
	struct nearest best = {.word = word};
	for (size_t i = 0; i < N_VERBS; i++) {
		if (str_is(word, verbs[i].word) ||
		    (verbs[i].pmix_key &&
		     (str_is(word, verbs[i].pmix_constant) || str_is(word, verbs[i].pmix_key)))) {
			*verb = (enum verb)i;
			return true;
		}
		nearest_try(&best, verbs[i].word);
	}
	*nearest = best.found;
	return false;
}

/** Cut a "[SEPARATOR]" off the end of *@name. Returns whether there was one. */
static bool cut_separator(struct str *name, struct str *separator) {
	size_t open = str_find(*name, '[');
	if (open == name->len || name->p[name->len - 1] != ']') {
		return false;
	}
	*separator = (struct str){name->p + open + 1, name->len - open - 2};
	name->len = open;
	return true;
}

static int check_name(struct str name, enum takes takes, size_t *column, struct err *err) {
	if (name.len == 0) {
		return err_set(err, EINVAL,
			       "the variable's name is empty; a name is expected before the '='");
	}
	for (size_t i = 0; i < name.len; i++) {
		unsigned char c = (unsigned char)name.p[i];
		*column = i;
		if (c < 0x20 || c == 0x7f || (c == ' ' && takes != TAKES_NAME)) {
			return err_set(err, EINVAL, "the name %s contains a blank or control character",
				       quote(name).s);
		}
		if (c == '=') {
			struct str front = {name.p, i};
			return err_set(err, EINVAL, "%s: expected a name without '='",
				       quote(secret_name(front) ? front : name).s);
		}
		if (c == '*' && (takes != TAKES_NAME || i + 1 < name.len)) {
			return err_set(err, EINVAL,
				       "%s: '*' is allowed only at the end of a name, in unset and pass",
				       quote(name).s);
		}
	}
	*column = 0;
	return 0;
}

static int check_size(struct str name, size_t value_len, struct err *err) {
	size_t size = name.len + 1 + value_len + 1;
	if (size > ENV_TEXT_MAX) {
		return err_set(err, E2BIG,
			       "%s would have %zu bytes, name and NUL included; the kernel takes %zu",
			       quote(name).s, size, ENV_TEXT_MAX);
	}
	return 0;
}

/** Cut the separator off the name in @d, and check both. */
static int check_parts(struct directive *d, size_t *column, struct err *err) {
	enum takes takes = verbs[d->verb].takes;
	bool separated = takes != TAKES_NAME && cut_separator(&d->name, &d->separator);
	if (separated && takes != TAKES_ELEMENT) {
		*column = d->name.len;
		return err_set(err, EINVAL, "%s: only prepend, append and first take a [separator]",
			       quote(d->name).s);
	}
	if (separated && d->separator.len == 0) {
		*column = d->name.len;
		return err_set(err, EINVAL, "%s[]: the separator between the brackets is empty",
			       quote(d->name).s);
	}
	if (!separated && takes == TAKES_ELEMENT && str_find(d->name, '[') < d->name.len) {
		*column = str_find(d->name, '[');
		return err_set(err, EINVAL,
			       "%s: the separator in brackets has to be the end of the name; "
			       "NAME[SEPARATOR]=VALUE is expected",
			       quote(d->name).s);
	}
	if (!separated) {
		d->separator = STR(":");
	}
	return check_name(d->name, takes, column, err);
}

/** The index of the '=' after the name. A '=' inside the brackets of a separator does not count. */
static size_t find_equals(struct str arg) {
	size_t equals = str_find(arg, '=');
	size_t open = str_find(arg, '[');
	if (open < equals) {
		for (size_t i = open + 1; i + 1 < arg.len; i++) {
			if (arg.p[i] == ']' && arg.p[i + 1] == '=') {
				return i + 1;
			}
		}
	}
	return equals;
}

int directive_parse(enum verb verb, struct str arg, const struct origin *by, struct directive *out,
		    size_t *column, struct err *err) {
	*column = 0;
	struct directive d = {.verb = verb, .name = arg, .by = by};
	if (verbs[verb].takes == TAKES_NOTHING) {
		d.name.len = 0;
		*out = d;
		return 0;
	}
	size_t equals = find_equals(arg);
	if (verb == VERB_PASS && equals < arg.len) {
		d.verb = verb = VERB_SET;
	}
	if (verbs[verb].takes != TAKES_NAME) {
		if (equals == arg.len) {
			*column = arg.len;
			return err_set(err, EINVAL, "%s has no '='; NAME=VALUE is expected", quote(arg).s);
		}
		d.name.len = equals;
		d.value = str_from(arg, equals + 1);
	}
	int r = check_parts(&d, column, err);
	if (r == 0) {
		*out = d;
	}
	return r;
}

int directives_push(struct directives *list, const struct directive *d, struct err *err) {
	int r = check_size(d->name, d->value.len, err);
	if (r == 0) {
		list->items = arena_more(list->arena, list->items, list->n, &list->cap, sizeof(*list->items));
		list->items[list->n++] = *d;
	}
	return r;
}

int directive_add(struct directives *list, enum verb verb, struct str arg, const struct origin *by,
		  size_t *column, struct err *err) {
	struct directive d = {0};
	int r = directive_parse(verb, arg, by, &d, column, err);
	return r < 0 ? r : directives_push(list, &d, err);
}

int directive_add_pair(struct directives *list, enum verb verb, struct str name, struct str value,
		       const struct origin *by, struct err *err) {
	size_t column;
	struct directive d = {.verb = verb, .name = name, .value = value, .by = by};
	int r = check_parts(&d, &column, err);
	return r < 0 ? r : directives_push(list, &d, err);
}

/** Add @more to the work done. Returns 0; or -E2BIG if it exceeds EFFORT_MAX. */
static int spend(size_t *effort, size_t more, const struct directive *d, struct err *err) {
	*effort += more;
	if (*effort > EFFORT_MAX) {
		return err_set(err, E2BIG,
			       "%s%s%s: "
			       "the directives so far process more than %zu MiB of lists and variables; "
			       "set a long list in one directive",
			       verbs[d->verb].word, d->name.len ? " " : "",
			       d->name.len ? quote(d->name).s : "", EFFORT_MAX >> 20);
	}
	return 0;
}

/** Set the variable to @before, the separator and @after; to one alone if the other is empty. */
static int join(struct env *env, const struct directive *d, struct str before, struct str after,
		struct err *err) {
	struct str separator = before.len && after.len ? d->separator : STR("");
	int r = check_size(d->name, before.len + separator.len + after.len, err);
	if (r < 0) {
		return r;
	}
	struct buf buf = BUF(env->arena);
	buf_reserve(&buf, d->name.len + before.len + separator.len + after.len + 2);
	buf_put(&buf, d->name);
	buf_putc(&buf, '=');
	buf_put(&buf, before);
	buf_put(&buf, separator);
	buf_put(&buf, after);
	env_set_text(env, buf_text(&buf), (uint32_t)d->name.len, d->by);
	return 0;
}

/** @list without the elements equal to @element. */
static struct str without(struct arena *arena, struct str list, struct str element, struct str separator) {
	struct buf buf = BUF(arena);
	bool any = false;
	for (size_t from = 0, i = 0; i <= list.len; i++) {
		bool cut =
			list.len - i >= separator.len && memcmp(list.p + i, separator.p, separator.len) == 0;
		if (i < list.len && !cut) {
			continue;
		}
		struct str piece = {list.p + from, i - from};
		if (!str_eq(piece, element)) {
			if (any) {
				buf_put(&buf, separator);
			}
			buf_put(&buf, piece);
			any = true;
		}
		i += cut ? separator.len - 1 : 0;
		from = i + 1;
	}
	return buf_str(&buf);
}

/** Warn about @d, with its file and line. */
static void note(const struct directive *d, struct notes *notes, const char *why) {
	if (d->by && d->by->line) {
		notes_add(notes, "%s:%u: %s %s: %s", d->by->by, d->by->line, verbs[d->verb].word,
			  quote(d->name).s, why);
	} else {
		notes_add(notes, "%s %s: %s", verbs[d->verb].word, quote(d->name).s, why);
	}
}

static int apply_element(const struct directive *d, struct env *env, size_t *effort, struct notes *notes,
			 struct err *err) {
	struct str old = str_of(env_find(env, d->name));
	if (d->value.len == 0) {
		note(d, notes, "the value is empty, so nothing changes");
		return 0;
	}
	int r = spend(effort, old.len + d->value.len, d, err);
	if (r < 0) {
		return r;
	}
	switch (d->verb) {
	case VERB_PREPEND:
		return join(env, d, d->value, old, err);
	case VERB_APPEND:
		return join(env, d, old, d->value, err);
	case VERB_FIRST:
		old = old.len ? without(env->arena, old, d->value, d->separator) : old;
		return join(env, d, d->value, old, err);
	default: // the other verbs do not work on lists
		return 0;
	}
}

/** The number of variables that @d is compared with. */
static size_t variables_of(const struct directive *d, const struct env *env) {
	bool prefix = d->name.len && d->name.p[d->name.len - 1] == '*';
	return prefix || d->verb == VERB_CLEAN ? env->n : 0;
}

static int apply_one(const struct directive *d, struct env *env, size_t *effort, struct notes *notes,
		     struct err *err) {
	int r = spend(effort, variables_of(d, env), d, err);
	if (r < 0) {
		return r;
	}
	switch (d->verb) {
	case VERB_SET:
		env_set(env, d->name, d->value, d->by);
		return 0;
	case VERB_ADD:
		if (!env_find(env, d->name)) {
			env_set(env, d->name, d->value, d->by);
		}
		return 0;
	case VERB_UNSET:
		env_unset(env, d->name, d->by);
		return 0;
	case VERB_CLEAN:
		env_clean(env, d->by);
		return 0;
	case VERB_PASS:
		if (env_pass(env, d->name) == 0 && d->name.p[d->name.len - 1] != '*' &&
		    !env_find(env, d->name)) {
			note(d, notes, "there is no such variable");
		}
		return 0;
	case VERB_PREPEND:
	case VERB_APPEND:
	case VERB_FIRST:
		return apply_element(d, env, effort, notes, err);
	}
	return 0;
}

int directives_apply(const struct directives *list, struct env *env, struct notes *notes, struct err *err) {
	size_t effort = 0;
	for (uint32_t i = 0; i < list->n; i++) {
		int r = apply_one(&list->items[i], env, &effort, notes, err);
		if (r < 0) {
			return r;
		}
	}
	return 0;
}
