// SPDX-License-Identifier: Apache-2.0

#include "source/nodefile.h"

#include "base/num.h"
#include "base/secret.h"
#include "cluster/endpoint.h"
#include "cluster/read.h"

#include <errno.h>

/** The position of an error, for messages. */
static const char *where(const struct node_list *nodes) {
	return nodes->line ? arena_format(nodes->arena, "%s:%u", nodes->what, nodes->line) : nodes->what;
}

/** Add slots to a node that is already collected. */
static int add_again(struct node_list *nodes, struct node *node, uint32_t slots, bool whole,
		     struct err *err) {
	if (whole || node->whole) {
		return err_set(err, EINVAL, "%s: the slots of host %s are given twice", where(nodes),
			       quote(node->name).s);
	}
	if (slots > HOSTS_MAX - node->slots) {
		return err_set(err, E2BIG, "%s: host %s has more than %u slots", where(nodes),
			       quote(node->name).s, HOSTS_MAX);
	}
	node->slots += slots;
	return 0;
}

int node_list_add(struct node_list *nodes, struct str name, uint32_t slots, bool whole, struct err *err) {
	if (!nodes->cap) {
		table_init(&nodes->seen, nodes->arena, 32);
	}
	nodes->list = arena_more(nodes->arena, nodes->list, nodes->n, &nodes->cap, sizeof(*nodes->list));
	const struct str folded = host_name_fold(nodes->arena, name);
	const uint32_t *number = table_find(&nodes->seen, folded);
	if (number) {
		return add_again(nodes, &nodes->list[*number - 1], slots, whole, err);
	}
	if (nodes->n == HOSTS_MAX) {
		return err_set(err, E2BIG, "%s lists more than %u hosts", nodes->what, HOSTS_MAX);
	}
	if (!host_name_is_fine(name)) {
		return host_name_refuse(name, where(nodes), err);
	}
	nodes->list[nodes->n++] = (struct node){.name = name, .slots = slots, .whole = whole};
	*table_put(&nodes->seen, folded) = nodes->n;
	return 0;
}

int slots_read(struct str text, uint32_t *slots) {
	uint64_t number;
	if (num_read(text, HOSTS_MAX, &number) < 0 || number == 0) {
		return -EINVAL;
	}
	*slots = (uint32_t)number;
	return 0;
}

void node_list_finish(struct node_list *nodes, struct placement *out) {
	struct str *names = arena_array(nodes->arena, nodes->n, sizeof(*names));
	uint32_t *slots = arena_array(nodes->arena, nodes->n, sizeof(*slots));
	for (uint32_t i = 0; i < nodes->n; i++) {
		names[i] = nodes->list[i].name;
		slots[i] = nodes->list[i].slots;
	}
	out->hosts = (struct hosts){.names = names, .n = nodes->n};
	out->slots = slots;
}

/** Remove ":N" from line->name, and the brackets of an IPv6 address. Returns 0; -EINVAL. */
static int read_colon(struct node *line) {
	struct str rest;
	endpoint_split(line->name, &line->name, &rest);
	if (rest.len == 0) {
		bool colons = str_find(line->name, ':') < line->name.len;
		return colons && !host_name_is_fine(line->name) ? -EINVAL : 0;
	}
	line->whole = true;
	return rest.p[0] == ':' ? slots_read(str_from(rest, 1), &line->slots) : -EINVAL;
}

/** Read the words after the name in a file of any form. Returns 0; -EINVAL. */
static int read_words(struct str rest, struct node *line) {
	struct str word;
	while (str_word(&rest, &word)) {
		if (str_starts(word, STR("slots=")) && !line->whole) {
			line->whole = true;
			if (slots_read(str_from(word, 6), &line->slots) < 0) {
				return -EINVAL;
			}
		} else if (!line->whole && slots_read(word, &line->slots) == 0) {
			// In Grid Engine's file, a queue follows, and the host is repeated for each queue.
			return 0;
		} else if (!str_starts(word, STR("max-slots=")) && !str_starts(word, STR("max_slots="))) {
			return -EINVAL;
		}
	}
	return 0;
}

/** Read @text, which is not blank. Returns 0; -EINVAL. */
static int read_line(struct str text, enum nodefile_form form, struct node *line) {
	struct str word;
	str_word(&text, &line->name);
	switch (form) {
	case NODEFILE_NAMES:
		return str_word(&text, &word) ? -EINVAL : 0;
	case NODEFILE_COUNTS:
		str_word(&text, &word);
		return slots_read(word, &line->slots);
	case NODEFILE_ANY:
		break;
	}
	int r = read_colon(line);
	r = r < 0 || line->name.len == 0 ? -EINVAL : r;
	return r < 0 ? r : read_words(text, line);
}

static const char *const expected[] = {
	[NODEFILE_NAMES] = "one host name is expected",
	[NODEFILE_COUNTS] = "a host name and a number of slots (1 or more) are expected",
	[NODEFILE_ANY] = "NAME, 'NAME N', 'NAME slots=N' or NAME:N is expected, where N is 1 or more",
};

int nodefile_parse(struct node_list *nodes, struct str text, enum nodefile_form form, struct err *err) {
	struct str piece;
	while (str_cut(&text, '\n', &piece)) {
		nodes->line++;
		if (form == NODEFILE_ANY) {
			piece.len = str_find(piece, '#');
		}
		piece = str_trim(piece);
		if (piece.len == 0) {
			continue;
		}
		struct node line = {.slots = 1};
		if (read_line(piece, form, &line) < 0) {
			return err_set(err, EINVAL, "%s: %s: %s", where(nodes), quote(piece).s,
				       expected[form]);
		}
		int r = node_list_add(nodes, line.name, line.slots, line.whole, err);
		if (r < 0) {
			return r;
		}
	}
	return 0;
}

/** The number of slots that the lines of all nodes give; UNKNOWN if they differ. */
static uint32_t common_number(const struct node_list *nodes) {
	for (uint32_t i = 0; i < nodes->n; i++) {
		if (!nodes->list[i].whole || nodes->list[i].slots != nodes->list[0].slots) {
			return UNKNOWN;
		}
	}
	return nodes->n ? nodes->list[0].slots : UNKNOWN;
}

/** Read the nodes of @text, of the variable or option @from, into @out. */
static int read_nodes(struct node_list *nodes, struct str text, enum nodefile_form form, const char *from,
		      struct placement *out, struct err *err) {
	if (nodefile_parse(nodes, text, form, err) < 0) {
		return -EINVAL;
	}
	node_list_finish(nodes, out);
	out->hosts_from = from;
	out->nproc_per_node = common_number(nodes);
	return 0;
}

int nodefile_read_setting(struct input *in, const struct setting *setting, enum nodefile_form form,
			  struct placement *out, struct err *err) {
	struct str text;
	const char *file = input_path(in, setting);
	struct node_list nodes = NODE_LIST(
		in->arena, arena_format(in->arena, "%s=%s", setting->from, secret_text(in->arena, file)));
	int r = input_read_setting(in, setting, NODEFILE_BYTES, &text, err);
	if (r < 0 && form != NODEFILE_ANY) {
		struct err cause = *err;
		err_set(err, EINVAL, "%s; make it readable here, or pass --hosts or --hostfile", cause.text);
	}
	return r < 0 ? -EINVAL : read_nodes(&nodes, text, form, setting->from, out, err);
}

int nodefile_read(struct input *in, const char *name, const char *path, enum nodefile_form form,
		  struct placement *out, struct err *err) {
	return nodefile_read_setting(in, &(struct setting){path, name, BY_VARIABLE}, form, out, err);
}

int nodefile_list(struct input *in, const char *name, const char *list, char separator, struct placement *out,
		  struct err *err) {
	struct node_list nodes = NODE_LIST(in->arena, name);
	char *text = arena_text(in->arena, list, strlen(list));
	for (char *p = text; *p; p++) {
		*p = *p == separator ? '\n' : *p;
	}
	return read_nodes(&nodes, str_of(text), NODEFILE_ANY, name, out, err);
}
