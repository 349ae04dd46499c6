// SPDX-License-Identifier: Apache-2.0

/** `explain --format=json`: for programs. What is here stays; keys may be added. */

#include "distinit/commands.h"

#include "base/json_write.h"
#include "base/secret.h"
#include "cluster/source.h"
#include "flow/changes.h"

static void put_hosts(struct buf *out, const struct hosts *hosts) {
	json_put_key(out, "hosts");
	if (hosts->n == 0) {
		buf_puts(out, "null");
		return;
	}
	buf_putc(out, '[');
	for (uint32_t i = 0; i < hosts->n; i++) {
		buf_puts(out, i ? ", " : "");
		json_put_string(out, hosts_at(hosts, i));
	}
	buf_putc(out, ']');
}

static void put_tasks(struct buf *out, const struct placement *place) {
	// Of a job script only the slots are known, which is the most that a node will have.
	const uint32_t *tasks = place->tasks_per_node ? place->tasks_per_node : place->slots;
	json_put_key(out, "tasks_per_node");
	if (!tasks) {
		buf_puts(out, "null");
		return;
	}
	for (uint32_t i = 0; i < place->hosts.n; i++) {
		buf_puts(out, i ? ", " : "[");
		buf_putu(out, tasks[i]);
	}
	buf_putc(out, ']');
}

/** The manager's number, or the one that all nodes have in common. */
static uint32_t nproc_per_node(const struct placement *place) {
	if (place->nproc_per_node != UNKNOWN || !place->tasks_per_node) {
		return place->nproc_per_node;
	}
	for (uint32_t i = 1; i < place->hosts.n; i++) {
		if (place->tasks_per_node[i] != place->tasks_per_node[0]) {
			return UNKNOWN;
		}
	}
	return place->tasks_per_node[0];
}

void explain_cluster_json(const struct cluster *c, struct buf *out) {
	buf_putc(out, '{');
	put_hosts(out, &c->place.hosts);
	json_put_number(out, "nnodes", c->nnodes);
	json_put_number(out, "node_rank", c->place.node_rank);
	json_put_number(out, "nproc_per_node", nproc_per_node(&c->place));
	json_put_number(out, "world_size", c->task.world_size);
	json_put_number(out, "rank", c->task.rank);
	json_put_number(out, "local_rank", c->task.local_rank);
	json_put_number(out, "local_size", c->task.local_size);
	json_put_number(out, "master_port",
			cluster_is_single(c) || cluster_is_vague(c) ? UNKNOWN : c->master_port);
	put_tasks(out, &c->place);
	json_put_member(out, "job_id", secret_text(out->arena, c->place.job_id));
	json_put_key(out, "master_addr");
	if (c->master_addr.len && !cluster_is_single(c)) {
		json_put_text(out, secret_text(out->arena,
					       arena_text(out->arena, c->master_addr.p, c->master_addr.len)));
	} else {
		buf_puts(out, "null");
	}
	buf_putc(out, '}');
}

static void put_variables(struct session *s, struct buf *out) {
	struct change *list;
	uint32_t n = flow_changes(&s->flow, settings_on(&s->settings, OPT_SHOW_SECRETS), &list);
	for (uint32_t i = 0; i < n; i++) {
		buf_puts(out, i ? ",\n    {" : "\n    {");
		json_put_member(out, "name", list[i].name);
		json_put_member(out, "value", list[i].value);
		json_put_member(out, "action", list[i].action);
		json_put_member(out, "by", list[i].by);
		json_put_member(out, "why", list[i].why);
		buf_putc(out, '}');
	}
}

/** The command as it will be, and what was filled in; null without a command. */
static void put_command(struct session *s, struct buf *out) {
	bool open = settings_on(&s->settings, OPT_SHOW_SECRETS);
	char **words = s->settings.arguments;
	json_put_key(out, "command");
	if (!s->settings.separated || !words[0]) {
		buf_puts(out, "null");
		return;
	}
	buf_puts(out, "{\"words\": [");
	for (size_t i = 0; words[i]; i++) {
		buf_puts(out, i ? ", " : "");
		json_put_text(out, open ? words[i] : secret_word(&s->arena, words, i));
	}
	buf_putc(out, ']');
	json_put_member(out, "role", s->fill.role == ROLE_ALL ? NULL : role_name(s->fill.role));
	json_put_key(out, "filled");
	buf_putc(out, '[');
	for (const struct fill_value *v = s->fill.values; v; v = v->next) {
		buf_puts(out, v == s->fill.values ? "{" : "}, {");
		json_put_member(out, "placeholder", v->placeholder);
		json_put_member(out, "value", v->value);
		json_put_member(out, "why", v->why);
	}
	buf_puts(out, s->fill.values ? "}]}" : "]}");
}

void explain_json(struct session *s, const struct process_report *process, struct buf *out) {
	const struct cluster *c = s->flow.has_cluster ? &s->flow.cluster : NULL;
	const struct launcher *launcher = c ? c->launcher : s->flow.broken ? NULL : s->flow.input.launcher;
	buf_puts(out, "{\n  ");
	json_put_member(out, "version", DISTINIT_VERSION);
	buf_puts(out, ",\n  ");
	json_put_member(out, "source", c && c->source ? c->source->name : NULL);
	buf_puts(out, ",\n  ");
	json_put_member(out, "launcher", launcher ? launcher->name : NULL);
	buf_puts(out, ",\n  ");
	json_put_member(out, "scope", c ? scope_name(c->scope) : NULL);
	buf_puts(out, ",\n  ");
	json_put_member(out, "recognised_by",
			c	   ? c->recognised_by
			: launcher ? launcher_recognised_by(launcher)
				   : NULL);
	buf_puts(out, ",\n  ");
	json_put_key(out, "cluster");
	if (c) {
		explain_cluster_json(c, out);
	} else {
		buf_puts(out, "null");
	}
	buf_puts(out, ",\n  ");
	json_put_key(out, "process");
	explain_process_json(process, out);
	buf_puts(out, ",\n  ");
	json_put_member(out, "hostfile",
			s->flow.derivation.hostfile.text.p ? s->flow.derivation.hostfile.path : NULL);
	buf_puts(out, ",\n  ");
	put_command(s, out);
	buf_puts(out, ",\n  \"variables\": [");
	put_variables(s, out);
	buf_puts(out, "\n  ],\n  \"warnings\": [");
	for (const struct note *note = s->notes.first; note; note = note->next) {
		buf_puts(out, note == s->notes.first ? "\n    " : ",\n    ");
		json_put_text(out, note->text);
	}
	buf_puts(out, "\n  ]\n}\n");
}
