// SPDX-License-Identifier: Apache-2.0

/**
 * The lines of a directive file:
 *
 *     # a comment, at the start of a line only
 *     NAME=VALUE                  set, as in the files of docker's --env-file
 *     prepend PATH=/opt/bin       a verb and its argument
 *     append CFLAGS[ ]=-O2        with another separator than ':'
 *     NAME                        pass, as in docker's files
 *     [app trainer]               the lines below are for this application only
 *
 * The value is the rest of the line, including blanks. Quotes are removed only if they enclose the
 * whole value.
 */

#include "base/buf.h"
#include "env/bundle.h"
#include "env/directive.h"

#include <errno.h>

/** One line, and its position for messages. */
struct directive_line {
	const char *where;
	uint32_t number;
	struct str text;
	/** The line is of a bundle, which may carry any name. */
	bool carried;
};

/** Put "WHERE:LINE:COLUMN: " before the sentence in @err. @at points into the line's text. */
static int locate(const struct directive_line *line, const char *at, int r, struct err *err) {
	struct err cause = *err;
	return err_set(err, -r, "%s:%u:%zu: %s", line->where, line->number, (size_t)(at - line->text.p) + 1,
		       cause.text);
}

/** The character that a backslash and @c stand for, or 0 if this is not an escape sequence. */
static char escaped(char c) {
	switch (c) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case '"':
	case '\\':
		return c;
	default:
		return '\0';
	}
}

/** Replace the escape sequences of a double-quoted value. Returns false if a quote ends it early. */
static bool unescape(struct arena *arena, struct str *value) {
	struct buf buf = BUF(arena);
	for (size_t i = 0; i < value->len; i++) {
		char c = value->p[i];
		if (c == '"' || (c == '\\' && i + 1 == value->len)) {
			return false;
		}
		if (c == '\\' && escaped(value->p[i + 1])) {
			c = escaped(value->p[++i]);
		}
		buf_putc(&buf, c);
	}
	*value = buf_str(&buf);
	return true;
}

/** Remove quotes that enclose the whole value. Any other value is unchanged. */
static struct str unquote(struct arena *arena, struct str value) {
	struct str trimmed = str_trim(value);
	if (trimmed.len < 2 || trimmed.p[0] != trimmed.p[trimmed.len - 1]) {
		return value;
	}
	struct str inner = {trimmed.p + 1, trimmed.len - 2};
	if (trimmed.p[0] == '\'' && str_find(inner, '\'') == inner.len) {
		return inner;
	}
	if (trimmed.p[0] == '"' && unescape(arena, &inner)) {
		return inner;
	}
	return value;
}

static int unknown_verb(struct str word, const char *nearest, struct err *err) {
	if (str_is(word, "export")) {
		return err_set(err, EINVAL,
			       "unknown verb 'export'; write the line without it, or with 'set'");
	}
	if (nearest) {
		return err_set(err, EINVAL, "unknown verb %s; did you mean '%s'?", quote(word).s, nearest);
	}
	return err_set(err, EINVAL,
		       "unknown verb %s; expected NAME=VALUE, or one of: "
		       "set add unset prepend append first clean pass",
		       quote(word).s);
}

static struct str skip_blanks(struct str text) {
	while (text.len && (text.p[0] == ' ' || text.p[0] == '\t')) {
		text = str_from(text, 1);
	}
	return text;
}

/**
 * Find the verb of a line that does not begin with NAME=. *@arg is the text after the verb. A
 * single word that is not a verb is a name to pass.
 */
static int read_verb(const struct directive_line *line, struct str word, struct str *arg, enum verb *verb,
		     struct err *err) {
	const char *nearest;
	if (!verb_find(word, verb, &nearest)) {
		if (arg->len) {
			return locate(line, word.p, unknown_verb(word, nearest, err), err);
		}
		*verb = VERB_PASS;
		*arg = word;
		return 0;
	}
	if (*verb == VERB_CLEAN && arg->len) {
		err_set(err, EINVAL, "clean takes no argument; found %s", quote(*arg).s);
		return locate(line, arg->p, -EINVAL, err);
	}
	if (*verb != VERB_CLEAN && arg->len == 0) {
		err_set(err, EINVAL, "%s needs a variable after it", quote(word).s);
		return locate(line, arg->p, -EINVAL, err);
	}
	return 0;
}

/** Read one line that is neither empty nor a comment nor a section. */
static int read_directive(struct directives *list, const struct directive_line *line, struct str text,
			  struct err *err) {
	size_t end = 0;
	while (end < text.len && text.p[end] != '=' && text.p[end] != ' ' && text.p[end] != '\t') {
		end++;
	}
	enum verb verb = VERB_SET;
	struct str arg = text;
	if (end == text.len || text.p[end] != '=') {
		arg = skip_blanks(str_from(text, end));
		int r = read_verb(line, (struct str){text.p, end}, &arg, &verb, err);
		if (r < 0) {
			return r;
		}
	}
	if (verb == VERB_UNSET || verb == VERB_PASS) {
		arg = str_trim(arg);
	}
	size_t equals = str_find(arg, '=');
	if (!line->carried && equals > 0 && equals < arg.len && arg.p[equals - 1] == '+') {
		// It would set a variable called "PATH+".
		err_set(err, EINVAL, "there is no '+='; write append %.*s=VALUE", (int)equals - 1, arg.p);
		return locate(line, arg.p + equals - 1, -EINVAL, err);
	}
	struct origin *by = arena_alloc(list->arena, sizeof(*by));
	*by = (struct origin){.by = line->where, .line = line->number};
	size_t column;
	struct directive d = {0};
	int r = directive_parse(verb, arg, by, &d, &column, err);
	if (r == 0) {
		// Unquote before the size is checked: quotes and escapes are not part of the
		// variable.
		d.value = unquote(list->arena, d.value);
		r = directives_push(list, &d, err);
	}
	return r < 0 ? locate(line, arg.p + column, r, err) : 0;
}

/** Read "[app NAME]". Sets *@section to the slice with the name. */
static int read_section(struct directive_levels *levels, const struct directive_line *line, struct str text,
			const char *app, struct str *section, struct err *err) {
	text = str_trim(text);
	struct str inner = {text.p + 1, text.len - 1};
	size_t end = str_find(inner, ']');
	if (end + 1 == inner.len && str_starts(inner, STR("app "))) {
		struct str name = str_trim((struct str){inner.p + 4, end - 4});
		if (name.len) {
			*section = name;
			levels->sections++;
			levels->app_found = levels->app_found || (app && str_is(name, app));
			nearest_try(&levels->nearest, arena_text(levels->job.arena, name.p, name.len));
			return 0;
		}
	}
	err_set(err, EINVAL, "unknown section %s; expected [app NAME]", quote(text).s);
	return locate(line, text.p, -EINVAL, err);
}

static int read_line(struct directive_levels *levels, const struct directive_line *line, const char *app,
		     struct str *section, struct err *err) {
	size_t nul = str_find(line->text, '\0');
	if (nul < line->text.len) {
		err_set(err, EINVAL, "a NUL byte; a text file is expected");
		return locate(line, line->text.p + nul, -EINVAL, err);
	}
	struct str text = skip_blanks(line->text);
	if (text.len == 0 || text.p[0] == '#') {
		return 0;
	}
	if (text.p[0] == '[') {
		return read_section(levels, line, text, app, section, err);
	}
	if (!section->p) {
		return read_directive(&levels->job, line, text, err);
	}
	if (app && str_is(*section, app)) {
		return read_directive(&levels->app, line, text, err);
	}
	// A section of another application is not applied, but errors in it are still reported.
	struct directives dropped = {.arena = levels->job.arena};
	return read_directive(&dropped, line, text, err);
}

int directive_read(struct directive_levels *levels, const char *where, struct str text, const char *app,
		   struct err *err) {
	struct str section = {0};
	struct directive_line line = {.where = where};
	levels->nearest.word = str_of(app);
	levels->texts++;
	if (str_starts(text, STR("\xef\xbb\xbf"))) {
		text = str_from(text, 3);
	}
	int bundle = bundle_open(where, &text, err);
	if (bundle < 0) {
		return bundle;
	}
	line.number = (uint32_t)bundle;
	line.carried = bundle > 0;
	while (str_cut(&text, '\n', &line.text)) {
		line.number++;
		if (line.text.len && line.text.p[line.text.len - 1] == '\r') {
			line.text.len--;
		}
		int r = read_line(levels, &line, app, &section, err);
		if (r < 0) {
			return r;
		}
	}
	return 0;
}
