// SPDX-License-Identifier: Apache-2.0

/** `explain` for people. */

#include "explain/explain.h"

#include "base/secret.h"
#include "base/words.h"
#include "cluster/hostlist.h"
#include "flow/changes.h"
#include "source/ask.h"

#include <errno.h>

/** Most bytes of a value or a host list that are shown. */
#define SHOWN 160

void explain_label(struct buf *out, const char *label) {
	buf_putf(out, "%-14s ", label);
}

/** Append @text for a terminal, cut where it is long. */
static void put_plain(struct buf *out, const char *text) {
	size_t len = strlen(text);
	buf_put_plain(out, (struct str){text, len < SHOWN ? len : SHOWN});
	if (len > SHOWN) {
		buf_putf(out, "... (%zu bytes)", len);
	}
}

static void put_recognised(struct buf *out, const char *name, const char *about, const char *by) {
	buf_putf(out, "%s: %s (recognised by ", name, about);
	put_plain(out, by);
	buf_puts(out, ")\n");
}

static void put_self(struct buf *out, const struct cluster *c) {
	explain_label(out, "this process");
	if (c->scope == SCOPE_TASK) {
		buf_putf(out, "rank %u of %u", c->task.rank, c->task.world_size);
		if (c->task.local_rank != UNKNOWN) {
			buf_putf(out, ", on its node rank %u", c->task.local_rank);
		}
		if (c->task.local_size != UNKNOWN) {
			buf_putf(out, " of %u", c->task.local_size);
		}
	} else if (c->scope == SCOPE_ALLOCATION) {
		buf_puts(out, "no rank: a batch script or shell in the allocation");
	} else {
		buf_puts(out, "one per node; the ranks are for torchrun or the like to start");
	}
	buf_putf(out, " (scope %s)\n", scope_name(c->scope));
}

static void put_nodes(struct session *s, struct buf *out, const struct cluster *c) {
	explain_label(out, "nodes");
	if (c->nnodes == UNKNOWN) {
		buf_puts(out, "not told\n");
		return;
	}
	if (c->place.hosts.n) {
		struct buf list = BUF(&s->arena);
		hostlist_compress(&c->place.hosts, &list);
		buf_putf(out, "%u: ", c->nnodes);
		put_plain(out, buf_text(&list));
		buf_putc(out, '\n');
	} else {
		buf_putf(out, "%u; their names are not told\n", c->nnodes);
	}
}

/** Write the slots as Slurm writes tasks: "2(x3),1". */
static void put_slots(struct session *s, struct buf *out, const struct placement *place) {
	struct buf list = BUF(&s->arena);
	for (uint32_t i = 0, next; i < place->hosts.n; i = next) {
		for (next = i; next < place->hosts.n && place->slots[next] == place->slots[i]; next++) {
		}
		buf_puts(&list, i ? "," : "");
		buf_putu(&list, place->slots[i]);
		if (next - i > 1) {
			buf_putf(&list, "(x%u)", next - i);
		}
	}
	explain_label(out, "slots");
	put_plain(out, buf_text(&list));
	buf_puts(out, ", which say nothing of what runs\n");
}

static void put_this_node(struct buf *out, const struct cluster *c) {
	explain_label(out, "this node");
	if (c->place.node_rank == UNKNOWN) {
		buf_puts(out, "not told\n");
		return;
	}
	buf_putf(out, "rank %u", c->place.node_rank);
	if (c->nnodes != UNKNOWN) {
		buf_putf(out, " of %u", c->nnodes);
	}
	if (c->place.node_rank < c->place.hosts.n) {
		buf_puts(out, ", ");
		buf_put_plain(out, hosts_at(&c->place.hosts, c->place.node_rank));
	}
	buf_putc(out, '\n');
}

/** What the manager does not provide, with the way out, if that is needed. */
static void put_lacks(struct buf *out, const struct cluster *c) {
	bool missed = c->place.hosts.n == 0 || c->place.node_rank == UNKNOWN;
	const char *lacks = c->source && missed ? source_lacks(c->source) : NULL;
	if (lacks) {
		explain_label(out, "lacks");
		buf_putf(out, "%s\n", lacks);
	}
}

static void put_cluster(struct session *s, struct buf *out, const struct cluster *c) {
	explain_label(out, "manager");
	if (c->source) {
		put_recognised(out, c->source->name, c->source->about, c->recognised_by);
	} else {
		buf_puts(out, "none recognised\n");
	}
	explain_label(out, "launcher");
	if (c->launcher) {
		put_recognised(out, c->launcher->name, c->launcher->about,
			       launcher_recognised_by(c->launcher));
	} else {
		buf_puts(out, "none\n");
	}
	put_self(out, c);
	put_nodes(s, out, c);
	if (c->place.slots) {
		put_slots(s, out, &c->place);
	}
	if (c->nnodes != UNKNOWN || c->place.node_rank != UNKNOWN) {
		put_this_node(out, c);
	}
	if (c->place.job_id) {
		explain_label(out, "job");
		put_plain(out, secret_text(&s->arena, c->place.job_id));
		buf_putc(out, '\n');
	}
	if (cluster_is_single(c)) {
		buf_puts(out, "A cluster of one needs nothing, so nothing is derived.\n");
		return;
	}
	put_lacks(out, c);
	if (cluster_is_vague(c)) {
		buf_puts(out, "That is no cluster yet, so nothing is derived.\n");
		return;
	}
	explain_label(out, "master");
	if (c->master_addr.len) {
		put_plain(out, secret_text(&s->arena,
					   arena_text(&s->arena, c->master_addr.p, c->master_addr.len)));
		buf_puts(out, " (");
		buf_put_plain(out, str_of(c->master_addr_why));
		buf_puts(out, "), ");
	} else {
		buf_puts(out, "not known, ");
	}
	buf_putf(out, "port %u (", c->master_port);
	buf_put_plain(out, str_of(c->master_port_why));
	buf_puts(out, ")\n");
}

/** Tell of the host file that would be written; explain itself writes none. */
static void put_hostfile(struct buf *out, const struct hostfile *file) {
	if (!file->text.p) {
		return;
	}
	uint32_t lines = 0;
	for (size_t i = 0; i < file->text.len; i++) {
		lines += file->text.p[i] == '\n';
	}
	explain_label(out, "host file");
	put_plain(out, secret_text(out->arena, file->path));
	buf_putf(out, ", to be written: %u line%s, the first ", lines, lines == 1 ? "" : "s");
	buf_put_plain(out, (struct str){file->text.p, str_find(file->text, '\n')});
	buf_putc(out, '\n');
}

/** The command as it will be, and what was filled in. */
static void put_command(struct session *s, struct buf *out) {
	bool open = settings_on(&s->settings, OPT_SHOW_SECRETS);
	char **words = s->settings.arguments;
	struct buf line = BUF(&s->arena);
	if (!s->settings.separated || !words[0]) {
		return;
	}
	for (size_t i = 0; words[i]; i++) {
		buf_puts(&line, i ? " " : "");
		word_put(&line, open ? words[i] : secret_word(&s->arena, words, i));
	}
	buf_putc(out, '\n');
	explain_label(out, "command");
	buf_put_plain(out, buf_str(&line));
	buf_putc(out, '\n');
	if (s->fill.role != ROLE_ALL) {
		explain_label(out, "role");
		buf_putf(out, "%s\n", role_name(s->fill.role));
	}
	for (const struct fill_value *v = s->fill.values; v; v = v->next) {
		explain_label(out, v->placeholder);
		put_plain(out, v->value);
		buf_puts(out, " (");
		put_plain(out, v->why);
		buf_puts(out, ")\n");
	}
}

static void put_variable(struct buf *out, const struct change *e) {
	buf_putf(out, "%-9s ", e->action);
	put_plain(out, e->name);
	if (e->value) {
		buf_putc(out, '=');
		put_plain(out, e->value);
	}
	buf_putf(out, "\n%10sby ", "");
	put_plain(out, e->by);
	if (e->why) {
		buf_puts(out, ": ");
		put_plain(out, e->why);
	}
	buf_putc(out, '\n');
}

/** Whether @name is the same on each of the @n nodes in @at. */
static bool is_same(const struct env *at, uint32_t n, struct str name) {
	const char *first = env_find(at, name), *value = first;
	for (uint32_t i = 1; i < n && value; i++) {
		value = env_find(&at[i], name);
		value = first && value && strcmp(first, value) == 0 ? value : NULL;
	}
	return value;
}

/** Write what is derived on @node: with @same what all have, else what they do not. */
static void put_node(struct session *s, struct buf *out, const struct env *at, uint32_t node, bool same) {
	const struct cluster *c = &s->flow.cluster;
	struct str host = node < c->place.hosts.n ? hosts_at(&c->place.hosts, node) : STR("node");
	const char *label = arena_format(&s->arena, "%u %.*s", node, (int)host.len, host.p);
	struct change *e;
	s->env = at[node];
	uint32_t n = flow_changes(&s->flow, settings_on(&s->settings, OPT_SHOW_SECRETS), &e);
	for (; n--; e++) {
		bool kept = strcmp(e->action, "kept") == 0; // of this node, and perhaps of no other
		if (e->value && (kept || is_same(at, c->nnodes, str_of(e->name))) == same) {
			explain_label(out, kept ? "here" : same ? "all" : label);
			buf_putf(out, "%s=", e->name);
			put_plain(out, e->value);
			buf_putc(out, '\n');
		}
	}
}

int explain_nodes(struct session *s, struct buf *out, struct err *err) {
	struct cluster *c = &s->flow.cluster;
	if (!s->flow.has_cluster || c->nnodes == UNKNOWN) {
		return err_set(err, EINVAL, "--all-nodes: the nodes are not known here; give --hosts");
	}
	struct env *at = arena_array(&s->arena, c->nnodes, sizeof(*at));
	c->scope = SCOPE_NODE;
	c->launcher = NULL;
	memset(&c->task, 0xff, sizeof(c->task)); // UNKNOWN
	c->task.host.len = 0;
	for (uint32_t i = 0; i < c->nnodes; i++) {
		struct env before;
		env_copy(&s->before, &before);
		c->place.node_rank = i;
		int r = flow_derive_again(&s->flow, &before, err);
		if (r < 0) {
			return r;
		}
		at[i] = s->env;
	}
	put_nodes(s, out, c);
	put_node(s, out, at, 0, true);
	for (uint32_t i = 0; i < c->nnodes; i++) {
		put_node(s, out, at, i, false);
	}
	return 0;
}

void explain_text(struct session *s, const struct process_report *process, struct buf *out) {
	if (s->flow.has_cluster) {
		put_cluster(s, out, &s->flow.cluster);
		put_hostfile(out, &s->flow.derivation.hostfile);
	} else if (s->flow.input.cluster.value && strcmp(s->flow.input.cluster.value, "none") == 0) {
		buf_puts(out, "No cluster manager is asked for, by --cluster=none, so nothing is derived.\n");
	} else if (s->flow.broken) {
		buf_puts(out, "A cluster manager is recognised, but what it says is broken, so nothing is "
			      "derived (--lenient).\n");
	} else if (s->flow.input.launcher && s->flow.input.launcher->complete) {
		buf_puts(out, "This is a child of torchrun, which has set all there is to set: nothing is "
			      "derived.\n");
	} else {
		buf_puts(out,
			 "No cluster manager is recognised here, so nothing is derived. ('distinit managers' "
			 "lists what\nwould be.");
		const char *kind = process->process.container.kind;
		if (kind && (strcmp(kind, "singularity") == 0 || strcmp(kind, "apptainer") == 0)) {
			buf_puts(out, " Under --cleanenv a manager's variables do not arrive.");
		}
		buf_puts(out, ")\n");
		explain_unknown(s, out);
	}
	buf_putc(out, '\n');
	explain_process(s, process, out);
	put_command(s, out);
	struct change *list;
	uint32_t n = flow_changes(&s->flow, settings_on(&s->settings, OPT_SHOW_SECRETS), &list);
	buf_puts(out, n ? "\n" : "");
	for (uint32_t i = 0; i < n; i++) {
		put_variable(out, &list[i]);
	}
	for (const struct note *note = s->notes.first; note; note = note->next) {
		buf_puts(out, note == s->notes.first ? "\nwarning: " : "warning: ");
		buf_put_plain(out, str_of(note->text));
		buf_putc(out, '\n');
	}
}
