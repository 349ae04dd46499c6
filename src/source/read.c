// SPDX-License-Identifier: Apache-2.0

/**
 * A manager that distinit does not know, described by the user:
 *
 *     --read='hosts=ACME_NODES node-rank=ACME_INDEX'      or DISTINIT_READ
 *
 * What it names is read and checked like a row of rows.c. Without node-rank, this
 * machine finds itself in the list, as with --hosts.
 */

#include "source/read.h"

#include "base/nearest.h"
#include "cluster/source.h"

#include <errno.h>

/** The fields that say where a cluster is or how large it is. */
#define DESCRIBES \
	(ROW_BIT(ROW_HOSTS) | ROW_BIT(ROW_HOSTFILE) | ROW_BIT(ROW_NNODES) | ROW_BIT(ROW_MASTER_ADDR))

/** One word. */
struct word {
	/** All of it, for messages. */
	struct str text;
	struct str field;
	struct str variable;
	/** 0: the word has none. */
	char separator;
	bool optional;
};

static bool is_blank(char c) {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/** Cut the separator, "[;]" or "[\n]", off the start of @rest. */
static void cut_separator(struct str *rest, struct word *out) {
	bool escaped = rest->len > 3 && rest->p[1] == '\\' && (rest->p[2] == 'n' || rest->p[2] == 't');
	size_t end = escaped ? 3 : 2;
	if (rest->len > end && rest->p[0] == '[' && rest->p[end] == ']') {
		out->separator = !escaped ? rest->p[1] : rest->p[2] == 'n' ? '\n' : '\t';
		*rest = str_from(*rest, end + 1);
	}
}

/** Cut the next word off @rest. Returns whether there was one. */
static bool cut_word(struct str *rest, struct word *out) {
	while (rest->len && is_blank(rest->p[0])) {
		*rest = str_from(*rest, 1);
	}
	*out = (struct word){.text = *rest, .field = *rest};
	while (rest->len && !is_blank(rest->p[0]) && !memchr("[?=", rest->p[0], 3)) {
		*rest = str_from(*rest, 1);
	}
	out->field.len = (size_t)(rest->p - out->field.p);
	// The separator may be a blank.
	cut_separator(rest, out);
	out->optional = rest->len && rest->p[0] == '?';
	struct str variable = str_from(*rest, out->optional);
	while (rest->len && !is_blank(rest->p[0])) {
		*rest = str_from(*rest, 1);
	}
	out->text.len = (size_t)(rest->p - out->text.p);
	if (variable.p < rest->p && variable.p[0] == '=') {
		out->variable = (struct str){variable.p + 1, (size_t)(rest->p - variable.p) - 1};
	}
	return out->text.len > 0;
}

/** Whether @text is a variable's name, or several, "A|B". */
static bool is_variable(struct str text) {
	for (size_t i = 0; i < text.len; i++) {
		char c = text.p[i], lower = (char)(c | 0x20);
		bool letter = c == '_' || c == '|' || (lower >= 'a' && lower <= 'z');
		if (!letter && !(i && c >= '0' && c <= '9')) {
			return false;
		}
	}
	return text.len > 0;
}

static int find_field(const char *from, const struct word *word, struct err *err) {
	struct nearest best = {.word = word->field};
	for (int i = 0; i < ROW_FIELDS; i++) {
		if (str_is(word->field, row_field_names[i])) {
			return i;
		}
		nearest_try(&best, row_field_names[i]);
	}
	return err_set(
		err, EINVAL,
		"%s: there is no field %s%s; hosts, hostfile, nnodes, node-rank, master-addr, master-port, "
		"nproc-per-node and job are expected, or the words slots and batch",
		from, quote(word->field).s, nearest_hint(&best, "").s);
}

static int take_field(struct arena *arena, const char *from, const struct word *word, struct source_row *row,
		      struct err *err) {
	int field = find_field(from, word, err);
	if (field < 0) {
		return field;
	}
	if (row->variables[field]) {
		return err_set(err, EINVAL, "%s: the field %s is given twice", from, row_field_names[field]);
	}
	bool hosts = field == ROW_HOSTS;
	bool template = hosts && str_find(word->variable, '{') < word->variable.len;
	if ((!template && !is_variable(word->variable)) || (word->separator && !hosts)) {
		return err_set(
			err, EINVAL,
			"%s: %s: FIELD=VARIABLE is expected, such as hosts=ACME_NODES, hosts[;]=ACME_NODES "
			"or job?=ACME_JOB",
			from, quote(word->text).s);
	}
	row->variables[field] = arena_text(arena, word->variable.p, word->variable.len);
	row->optional |= word->optional ? ROW_BIT(field) : 0;
	row->separator = word->separator ? word->separator : row->separator;
	return 0;
}

int read_parse(struct arena *arena, const char *from, const char *text, struct source_row *out,
	       struct err *err) {
	struct source_row row = {0};
	struct str rest = str_of(text);
	struct word word;
	unsigned fields = 0;
	while (cut_word(&rest, &word)) {
		if (str_is(word.text, "slots")) {
			row.slots = true;
		} else if (str_is(word.text, "batch")) {
			row.batch = true;
		} else {
			int r = take_field(arena, from, &word, &row, err);
			if (r < 0) {
				return r;
			}
		}
	}
	for (unsigned i = 0; i < ROW_FIELDS; i++) {
		fields |= row.variables[i] ? ROW_BIT(i) : 0;
	}
	if (!(fields & DESCRIBES)) {
		return err_set(err, EINVAL,
			       "%s=%s: one of hosts, hostfile, nnodes and master-addr is expected, such as "
			       "hosts=ACME_NODES",
			       from, quote(str_of(text)).s);
	}
	if (row.variables[ROW_HOSTS] && row.variables[ROW_HOSTFILE]) {
		return err_set(err, EINVAL,
			       "%s: hosts and hostfile contradict each other; one of them is enough", from);
	}
	*out = row;
	return 0;
}

/** Whether one of @names, "A|B", is set. row_read() checks the variables of a template. */
static bool is_set(const struct env *env, const char *names) {
	struct str rest = str_of(names), name;
	bool set = strchr(names, '{');
	while (!set && str_cut(&rest, '|', &name)) {
		const char *value = env_find(env, name);
		set = value && *value;
	}
	return set;
}

static int check_set(const struct input *in, const struct source_row *row, struct err *err) {
	for (unsigned i = 0; i < ROW_FIELDS; i++) {
		const char *names = row->variables[i];
		if (names && !(row->optional & ROW_BIT(i)) && !is_set(in->env, names)) {
			return err_set(
				err, EINVAL,
				"%s: %s=%s: this variable is not set here; set it, or write %s?=%s if it "
				"may be missing",
				in->read.from, row_field_names[i], names, row_field_names[i], names);
		}
	}
	return 0;
}

static const char *read_detect(const struct input *in) {
	return in->read.value ? in->read.from : NULL;
}

static int read_read(struct input *in, struct placement *out, struct err *err) {
	struct source_row row;
	int r = read_parse(in->arena, in->read.from, in->read.value, &row, err);
	r = r < 0 ? r : check_set(in, &row, err);
	if (r == 0 && in->node_rank.value && row.variables[ROW_NODE_RANK]) {
		return err_set(err, EINVAL,
			       "%s and node-rank in %s contradict each other; one of them is enough",
			       in->node_rank.from, in->read.from);
	}
	r = r < 0 ? r : row_read(in, &row, in->read.from, out, err);
	bool finds_itself = out->hosts.n && !out->node_rank_from && !row.batch;
	if (r == 0 && (in->node_rank.value || finds_itself)) {
		r = self_told(in, out->hosts_from ? env_value(in->env, out->hosts_from) : NULL, out, err);
	}
	return r;
}

const struct source source_read = {
	.name = "read",
	.about = "a manager that the user describes (--read)",
	.known_by = "--read or DISTINIT_READ",
	.reads = READS("DISTINIT_READ", "DISTINIT_NODE_RANK"),
	.detect = read_detect,
	.read = read_read,
	.by_hand = true,
};
