// SPDX-License-Identifier: Apache-2.0

/** The output of `explain` for people. */

#include "distinit/labelled.h"
#include "explain/explain.h"

#include "base/secret.h"
#include "base/words.h"
#include "cluster/hostlist.h"
#include "flow/changes.h"
#include "source/ask.h"

#include <errno.h>

/** Cut @text if it is longer than CHANGE_SHOWN. */
static const char *cut(struct arena *arena, const char *text) {
	return arena_cut(arena, text, CHANGE_SHOWN);
}

/** The first line of @text. */
static const char *first_line(struct arena *arena, struct str text) {
	return arena_text(arena, text.p, str_find(text, '\n'));
}

static void put_recognised(struct buf *out, const char *label, const char *name, const char *about,
			   const char *by) {
	labelled_put(out, label,
		     arena_format(out->arena, "%s: %s (recognised by %s)", name, about, cut(out->arena, by)));
}

static void put_self(struct buf *out, const struct cluster *c) {
	struct buf line = BUF(out->arena);
	if (c->scope == SCOPE_TASK) {
		buf_putf(&line, "rank %u of %u", c->task.rank, c->task.world_size);
		if (c->task.local_rank != UNKNOWN) {
			buf_putf(&line, ", on its node rank %u", c->task.local_rank);
		}
		if (c->task.local_size != UNKNOWN) {
			buf_putf(&line, " of %u", c->task.local_size);
		}
	} else if (c->scope == SCOPE_ALLOCATION) {
		buf_puts(&line, "no rank: a batch script or shell in the allocation");
	} else {
		buf_puts(&line, "one process per node; torchrun or a similar launcher starts the ranks");
	}
	buf_putf(&line, " (scope %s)", scope_name(c->scope));
	labelled_put(out, "this process", buf_text(&line));
}

static void put_nodes(struct buf *out, const struct cluster *c) {
	const char *names = "; their names are not told";
	struct buf list = BUF(out->arena);
	if (c->place.hosts.n) {
		hostlist_compress(&c->place.hosts, &list);
		names = arena_format(out->arena, ": %s", cut(out->arena, buf_text(&list)));
	}
	labelled_put(out, "nodes",
		     c->nnodes == UNKNOWN ? "not told" : arena_format(out->arena, "%u%s", c->nnodes, names));
}

/** Write the slots as Slurm writes tasks: "2(x3),1". */
static void put_slots(struct buf *out, const struct placement *place) {
	struct buf list = BUF(out->arena);
	for (uint32_t i = 0, next; i < place->hosts.n; i = next) {
		for (next = i; next < place->hosts.n && place->slots[next] == place->slots[i]; next++) {
		}
		buf_putf(&list, "%s%u", i ? "," : "", place->slots[i]);
		if (next - i > 1) {
			buf_putf(&list, "(x%u)", next - i);
		}
	}
	labelled_put(out, "slots",
		     arena_format(out->arena, "%s, which are not used as ranks",
				  cut(out->arena, buf_text(&list))));
}

static void put_this_node(struct buf *out, const struct cluster *c) {
	struct buf line = BUF(out->arena);
	uint32_t rank = c->place.node_rank;
	buf_putf(&line, rank == UNKNOWN ? "not told" : "rank %u", rank);
	if (rank != UNKNOWN && c->nnodes != UNKNOWN) {
		buf_putf(&line, " of %u", c->nnodes);
	}
	if (rank < c->place.hosts.n) {
		buf_puts(&line, ", ");
		buf_put(&line, hosts_at(&c->place.hosts, rank));
	}
	labelled_put(out, "this node", buf_text(&line));
}

/** Append what the manager does not provide, with the way out, if the cluster needs it. */
static void put_lacks(struct buf *out, const struct cluster *c) {
	bool missed = c->place.hosts.n == 0 || c->place.node_rank == UNKNOWN;
	const char *lacks = c->place.hosts_lack	  ? c->place.hosts_lack
			    : c->source && missed ? source_lacks(c->source)
						  : NULL;
	if (lacks) {
		labelled_put(out, "lacks", lacks);
	}
}

static void put_master(struct buf *out, const struct cluster *c) {
	struct arena *arena = out->arena;
	const char *host = arena_text(arena, c->master_addr.p, c->master_addr.len);
	host = c->master_addr.len ? arena_format(arena, "%s (%s)", cut(arena, secret_text(arena, host)),
						 c->master_addr_why)
				  : "not known";
	labelled_put(out, "master",
		     arena_format(arena, "%s, port %u (%s)", host, c->master_port, c->master_port_why));
}

static void put_cluster(struct buf *out, const struct cluster *c) {
	if (c->source) {
		put_recognised(out, "manager", c->source->name, c->source->about, c->recognised_by);
	} else {
		labelled_put(out, "manager", "none recognised");
	}
	if (c->launcher) {
		put_recognised(out, "launcher", c->launcher->name, c->launcher->about,
			       launcher_recognised_by(c->launcher));
	} else {
		labelled_put(out, "launcher", "none");
	}
	put_self(out, c);
	put_nodes(out, c);
	if (c->place.slots) {
		put_slots(out, &c->place);
	}
	if (c->nnodes != UNKNOWN || c->place.node_rank != UNKNOWN) {
		put_this_node(out, c);
	}
	if (c->place.job_id) {
		labelled_put(out, "job", cut(out->arena, secret_text(out->arena, c->place.job_id)));
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
	put_master(out, c);
}

/** Append the host file that would be written: explain itself does not write it. */
static void put_hostfile(struct buf *out, const struct hostfile *file) {
	uint32_t lines = 0;
	for (size_t i = 0; i < file->text.len; i++) {
		lines += file->text.p[i] == '\n';
	}
	if (file->text.p) {
		labelled_put(out, "host file",
			     arena_format(out->arena, "%s, to be written: %u line%s, the first %s",
					  cut(out->arena, secret_text(out->arena, file->path)), lines,
					  lines == 1 ? "" : "s", first_line(out->arena, file->text)));
	}
}

/** Append the command with its words filled, and the values of its placeholders. */
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
	labelled_put(out, "command", buf_text(&line));
	if (s->fill.role != ROLE_ALL) {
		labelled_put(out, "role", role_name(s->fill.role));
	}
	for (const struct fill_value *v = s->fill.values; v; v = v->next) {
		labelled_put(
			out, v->placeholder,
			arena_format(&s->arena, "%s (%s)", cut(&s->arena, v->value), cut(&s->arena, v->why)));
	}
}

/** Write "NAME=VALUE"; or the name alone if there is no value. */
static const char *assignment(struct arena *arena, const struct change *e) {
	const char *name = cut(arena, e->name);
	return e->value ? arena_format(arena, "%s=%s", name, e->value) : name;
}

static void put_variable(struct buf *out, const struct change *e) {
	struct arena *arena = out->arena;
	struct buf line = BUF(arena);
	buf_putf(&line, "%-9s %s", e->action, assignment(arena, e));
	buf_put_plain(out, buf_str(&line));
	line.len = 0;
	buf_putf(&line, "%10sby %s%s%s", "", cut(arena, e->by), e->why ? ": " : "",
		 e->why ? cut(arena, e->why) : "");
	buf_putc(out, '\n');
	buf_put_plain(out, buf_str(&line));
	buf_putc(out, '\n');
}

/** The environments of all nodes; and for each name that was compared, whether all nodes have the same value. */
struct all_nodes {
	const struct env *at;
	uint32_t n;
	/** SAME or DIFFERS, by name, so that each is compared once. */
	struct table asked;
};

enum { NOT_ASKED, SAME, DIFFERS };

/** Whether @name is the same on all nodes. */
static bool is_same(struct all_nodes *all, struct str name) {
	uint32_t *known = table_put(&all->asked, name);
	if (*known == NOT_ASKED) {
		const char *first = env_find(&all->at[0], name), *value = first;
		for (uint32_t i = 1; i < all->n && value; i++) {
			value = env_find(&all->at[i], name);
			value = value && strcmp(first, value) == 0 ? value : NULL;
		}
		*known = value ? SAME : DIFFERS;
	}
	return *known == SAME;
}

/** Append what is derived on @node. @same: only what all nodes have; else only what differs. */
static void put_node(struct session *s, struct buf *out, struct all_nodes *all, uint32_t node, bool same) {
	const struct cluster *c = &s->flow.cluster;
	struct str host = node < c->place.hosts.n ? hosts_at(&c->place.hosts, node) : STR("node");
	const char *label = arena_format(&s->arena, "%u %.*s", node, (int)host.len, host.p);
	struct change *e;
	s->env = all->at[node];
	uint32_t n = flow_changes(&s->flow, settings_on(&s->settings, OPT_SHOW_SECRETS), CHANGE_SHOWN, &e);
	for (; n--; e++) {
		bool kept = strcmp(e->action, "kept") == 0; // this node has it; the others need not
		if (e->value && (kept || is_same(all, str_of(e->name))) == same) {
			labelled_put(out, kept ? "here" : same ? "all" : label, assignment(out->arena, e));
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
	struct all_nodes all = {.at = at, .n = c->nnodes};
	table_init(&all.asked, &s->arena, s->env.n);
	put_nodes(out, c);
	put_node(s, out, &all, 0, true);
	for (uint32_t i = 0; i < c->nnodes; i++) {
		put_node(s, out, &all, i, false);
	}
	return 0;
}

void explain_text(struct session *s, const struct process_report *process, struct buf *out) {
	if (s->flow.has_cluster) {
		put_cluster(out, &s->flow.cluster);
		if (s->flow.derivation.torchrun_alone) {
			labelled_put(out, "torchrun", s->flow.derivation.torchrun_alone);
		}
		put_hostfile(out, &s->flow.derivation.hostfile);
	} else if (s->flow.input.cluster.value && strcmp(s->flow.input.cluster.value, "none") == 0) {
		buf_puts(out, "No cluster manager is asked for, by --cluster=none, so nothing is derived.\n");
	} else if (s->flow.broken) {
		buf_puts(out, "A cluster manager is recognised, but its variables are invalid, so nothing is "
			      "derived (--lenient).\n");
	} else if (s->flow.started_by && s->flow.started_by->complete) {
		buf_puts(out, "This is a child of torchrun, which has set all variables, so nothing is "
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
	explain_run(s, &process->run, out);
	struct change *list;
	uint32_t n = flow_changes(&s->flow, settings_on(&s->settings, OPT_SHOW_SECRETS), CHANGE_SHOWN, &list);
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
