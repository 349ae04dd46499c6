// SPDX-License-Identifier: Apache-2.0

/** The text of a row: its words, its condition, its variables. */

#include "source/row.h"

#include "base/buf.h"
#include "base/nearest.h"
#include "base/num.h"
#include "cluster/self.h"
#include "source/pods.h"

#include <ctype.h>
#include <errno.h>

const char row_field_names[ROW_FIELDS][16] = {
	[ROW_HOSTS] = "hosts",
	[ROW_HOSTFILE] = "hostfile",
	[ROW_NNODES] = "nnodes",
	[ROW_NODE_RANK] = "node-rank",
	[ROW_MASTER_ADDR] = "master-addr",
	[ROW_MASTER_PORT] = "master-port",
	[ROW_NPROC_PER_NODE] = "nproc-per-node",
	[ROW_JOB] = "job",
	[ROW_WITH] = "with",
	[ROW_WITHOUT] = "without",
	[ROW_SLOTS] = "slots",
	[ROW_BATCH] = "batch",
	[ROW_SHARED] = "shared",
};

/** Cut the separator, "[;]" or "[\n]", off the start of *@text. Returns it, or 0. */
static char cut_separator(const char **text) {
	const char *p = *text;
	bool escaped = p[0] == '[' && p[1] == '\\' && (p[2] == 'n' || p[2] == 't');
	if (p[0] != '[' || !p[1] || p[2 + escaped] != ']') {
		return '\0';
	}
	*text += 3 + escaped;
	return !escaped ? p[1] : p[2] == 'n' ? '\n' : '\t';
}

/** Whether @c ends a word: a blank, or the NUL after the text. */
static bool ends_word(char c) {
	return (unsigned char)c <= ' ';
}

bool row_next(const char **text, struct row_word *out) {
	const char *p = *text, *end;
	for (; *p && ends_word(*p); p++) {
	}
	*out = (struct row_word){.name = {p, 0}};
	for (; !ends_word(*p) && *p != '[' && *p != '?' && *p != '!' && *p != '#' && *p != '='; p++) {
	}
	out->name.len = (size_t)(p - out->name.p);
	while (out->field < ROW_FIELDS && !str_is(out->name, row_field_names[out->field])) {
		out->field++;
	}
	out->known_by = out->field == ROW_WITH || out->field == ROW_WITHOUT;
	// The separator may be a blank.
	out->separator = cut_separator(&p);
	for (; *p == '?' || *p == '!' || *p == '#'; p++) {
		out->optional |= *p == '?';
		out->known_by |= *p != '?';
		out->is_number |= *p == '#';
	}
	for (end = p; !ends_word(*end); end++) {
	}
	if (*p == '=') {
		struct str value = {p + 1, (size_t)(end - p) - 1};
		size_t len = str_find(value, ':');
		out->variables = (struct str){value.p, len};
		out->pattern = str_from(value, len + (len < value.len));
	}
	*text = end;
	out->text = (struct str){out->name.p, (size_t)(end - out->name.p)};
	return out->text.len > 0;
}

/** Whether @text may be a word's variables: a text with braces, or names and their separators. */
static bool are_variables(struct str text) {
	bool fine = text.len && !isdigit((unsigned char)text.p[0]);
	for (size_t i = 0; i < text.len && text.p[i] != '{'; i++) {
		bool plain = isalnum((unsigned char)text.p[i]) || str_find(STR("_|/+"), text.p[i]) < 4;
		fine = fine && (plain || str_find(text, '{') < text.len);
	}
	return fine;
}

static int check_word(const char *from, const struct row_word *word, unsigned fields, struct err *err) {
	struct nearest best = {.word = word->name};
	bool alone = word->field >= ROW_SLOTS;
	if (word->field == ROW_FIELDS || (alone && word->text.len > word->name.len)) {
		for (unsigned i = 0; i < ROW_FIELDS; i++) {
			nearest_try(&best, row_field_names[i]);
		}
		return err_set(err, EINVAL,
			       "%s: there is no field %s%s; hosts, hostfile, nnodes, node-rank, "
			       "master-addr, master-port, nproc-per-node and job are expected, "
			       "or the words slots, batch and shared",
			       from, quote(word->name).s, nearest_hint(&best, "").s);
	}
	bool misplaced = (word->separator && word->field != ROW_HOSTS) ||
			 (word->pattern.len && !word->known_by && !word->optional);
	if (!alone && (!are_variables(word->variables) || misplaced)) {
		return err_set(err, EINVAL,
			       "%s: %s: FIELD=VARIABLE is expected, such as hosts=ACME_NODES, "
			       "hosts[;]=ACME_NODES or job?=ACME_JOB",
			       from, quote(word->text).s);
	}
	if ((fields & ROW_BIT(word->field)) && word->field < ROW_WITH) {
		return err_set(err, EINVAL, "%s: the field %s is given twice", from,
			       row_field_names[word->field]);
	}
	return 0;
}

int row_check(const char *from, const char *text, struct err *err) {
	const unsigned lists = ROW_BIT(ROW_HOSTS) | ROW_BIT(ROW_HOSTFILE);
	const unsigned describes = lists | ROW_BIT(ROW_NNODES) | ROW_BIT(ROW_MASTER_ADDR);
	unsigned fields = 0;
	struct row_word word;
	for (const char *rest = text; row_next(&rest, &word); fields |= ROW_BIT(word.field)) {
		int r = check_word(from, &word, fields, err);
		if (r < 0) {
			return r;
		}
	}
	if (!(fields & describes)) {
		return err_set(err, EINVAL,
			       "%s=%s: one of hosts, hostfile, nnodes and master-addr is expected, "
			       "such as hosts=ACME_NODES",
			       from, quote_text(text).s);
	}
	if ((fields & lists) == lists) {
		return err_set(err, EINVAL,
			       "%s: hosts and hostfile contradict each other; one of them is enough", from);
	}
	return 0;
}

struct row row_parse(const char *text) {
	struct row row = {.separator = ','};
	struct row_word word;
	while (row_next(&text, &word)) {
		row.fields |= ROW_BIT(word.field);
		row.variables[word.field] = word.variables;
		row.patterns[word.field] = word.pattern;
		row.optional |= word.optional ? ROW_BIT(word.field) : 0;
		row.separator = word.separator ? word.separator : row.separator;
	}
	return row;
}

/** Pick the first of "A|B+1" that is set. */
static struct row_value pick(const struct input *in, struct str names) {
	struct row_value out = {.name = arena_text(in->arena, names.p, names.len)};
	struct str rest = names, name;
	while (str_cut(&rest, '|', &name)) {
		bool plus = name.len > 2 && str_is(str_from(name, name.len - 2), "+1");
		name.len -= plus ? 2 : 0;
		const char *value = env_find(in->env, name);
		if (value && *value) {
			return (struct row_value){.name = arena_text(in->arena, name.p, name.len),
						  .value = value,
						  .plus = plus};
		}
	}
	return out;
}

/**
 * Append the value of {@name} to @out, and its variable to text->name. If the variable is not set,
 * text->value is NULL.
 */
static void put_value(const struct input *in, struct str name, uint32_t i, struct buf *out,
		      struct row_value *text) {
	size_t number = str_find(name, '#');
	struct pod_name pod = {.index = UNKNOWN};
	if (str_is(name, "i")) {
		text->numbered = true;
		buf_putu(out, i);
		return;
	}
	if (str_is(name, "hostname")) {
		buf_puts(out, input_own_name(in).s);
		return;
	}
	struct row_value found = pick(in, (struct str){name.p, number});
	if (!found.value || (number < name.len && !pod_read(str_of(found.value), &pod))) {
		*text = (struct row_value){.name = found.name};
		return;
	}
	text->name = text->name ? arena_format(in->arena, "%s with %s", text->name, found.name) : found.name;
	if (number == name.len) {
		buf_puts(out, found.value);
		return;
	}
	text->numbered = true;
	buf_put(out, pod.prefix);
	buf_putu(out, i);
	buf_put(out, (struct str){pod.suffix.p, str_find(pod.suffix, ':')});
}

/** Append *@rest, up to @end. Names in braces are replaced by their values. */
static void expand(const struct input *in, struct str *rest, char end, uint32_t i, struct buf *out,
		   struct row_value *text) {
	for (; text->value && rest->len && rest->p[0] != end; *rest = str_from(*rest, rest->len > 0)) {
		if (rest->p[0] != '{') {
			buf_putc(out, rest->p[0]);
			continue;
		}
		struct buf name = BUF(in->arena);
		struct row_value inner = {.value = ""};
		*rest = str_from(*rest, 1);
		expand(in, rest, '}', i, &name, &inner);
		if (inner.value) {
			put_value(in, buf_str(&name), i, out, text);
			text->numbered |= inner.numbered;
		} else {
			*text = inner;
		}
	}
}

struct row_value row_value(const struct input *in, struct str variables, uint32_t i) {
	if (!variables.p) {
		return (struct row_value){0};
	}
	if (str_find(variables, '{') == variables.len) {
		return pick(in, variables);
	}
	struct buf text = BUF(in->arena);
	struct row_value out = {.value = ""};
	struct str rest = variables;
	expand(in, &rest, '\0', i, &text, &out);
	out.name = out.name ? out.name : arena_text(in->arena, variables.p, variables.len);
	out.value = out.value ? buf_text(&text) : NULL;
	return out;
}

bool row_is_like(const struct input *in, const char *value, struct str patterns) {
	struct str text = str_of(value), rest = patterns, pattern;
	bool like = patterns.len == 0;
	if (str_find(patterns, '{') < patterns.len) {
		rest = str_of(row_value(in, patterns, 0).value);
	}
	while (!like && str_cut(&rest, '|', &pattern)) {
		like = str_like(text, pattern) || str_like(host_label(text), pattern);
	}
	return like;
}

bool row_matches(const struct input *in, const char *text, const char **by) {
	struct row_word word;
	uint32_t number;
	*by = NULL;
	while (row_next(&text, &word)) {
		if (!word.known_by) {
			continue;
		}
		struct row_value found = row_value(in, word.variables, 0);
		bool matches = found.value ? row_is_like(in, found.value, word.pattern) &&
						     (!word.is_number ||
						      num_read_u32(str_of(found.value), &number) == 0)
					   : word.optional;
		if (matches == (word.field == ROW_WITHOUT)) {
			return false;
		}
		*by = *by ? *by : found.name;
	}
	return true;
}

/** Whether a variable of the first word is set. In most runs none is, so the rest of the row is not read. */
static bool first_is_set(const struct input *in, const char *text) {
	const char *name = strchr(text, '='), *end = name;
	do {
		name = ++end;
		for (; isalnum((unsigned char)*end) || *end == '_'; end++) {
		}
		if (env_find(in->env, (struct str){name, (size_t)(end - name)})) {
			return true;
		}
	} while (*end == '|');
	return false;
}

const char *row_detect(const struct input *in, const char *text) {
	const char *by;
	return first_is_set(in, text) && row_matches(in, text, &by) ? by : NULL;
}

/** Whether @name is among @names, @n of them. */
static bool has_name(const char *const *names, size_t n, const char *name) {
	while (n && strcmp(names[n - 1], name) != 0) {
		n--;
	}
	return n;
}

const char *const *row_reads(struct arena *arena, const char *text) {
	// No name is shorter than two bytes, with one between.
	const char **names = arena_array(arena, strlen(text) / 3 + 2, sizeof(*names));
	size_t n = 0;
	struct row_word word;
	while (row_next(&text, &word)) {
		struct str rest = word.variables;
		for (size_t len; rest.len; rest = str_from(rest, len + (len < rest.len))) {
			for (len = 0; len < rest.len && str_find(STR("|/+{}#"), rest.p[len]) == 6; len++) {
			}
			bool goes_on = len < rest.len && rest.p[len] == '{';
			const char *name =
				arena_format(arena, "%.*s%s", (int)len, rest.p, goes_on ? "*" : "");
			// A variable's name begins with a capital or '_'. All else is plain text.
			bool is_name = len > 1 && (isupper((unsigned char)name[0]) || name[0] == '_');
			if (is_name && !has_name(names, n, name)) {
				names[n++] = name;
			}
		}
	}
	names[n] = NULL;
	return names;
}

const char *row_known_by(struct arena *arena, const char *text) {
	struct buf out = BUF(arena);
	struct row_word word;
	while (row_next(&text, &word)) {
		if (!word.known_by) {
			continue;
		}
		struct str rest = word.variables, name;
		buf_puts(&out, word.field == ROW_WITHOUT ? " without " : out.len ? " and " : "");
		for (bool more = false; str_cut(&rest, '|', &name); more = true) {
			buf_puts(&out, more ? " or " : "");
			buf_put(&out, name);
		}
		buf_puts(&out, word.pattern.len ? " of the form " : word.is_number ? " (a number)" : "");
		buf_put(&out, word.pattern);
		buf_puts(&out, word.optional ? " (or not set)" : "");
	}
	return buf_text(&out);
}
