// SPDX-License-Identifier: Apache-2.0

/**
 * What frameworks ask of a cluster alike: which of its processes this one is, whether a starter of ranks (torchrun and the like)
 * has its place here, and how an endpoint is written.
 */

#include "base/buf.h"
#include "framework/framework.h"

/** Whether each node is known to have one task, as far as the manager tells. */
static bool nodes_are_single(const struct cluster *c) {
	for (uint32_t i = 0; c->place.tasks_per_node && i < c->place.hosts.n; i++) {
		if (c->place.tasks_per_node[i] != 1) {
			return false;
		}
	}
	return true;
}

const char *process_of(const struct cluster *c, struct counted *out) {
	if (c->scope == SCOPE_ALLOCATION) {
		return "this process is no rank, and what is set here reaches every task";
	}
	if (c->scope == SCOPE_TASK) {
		*out = (struct counted){c->task.rank, c->task.world_size};
		return NULL;
	}
	if (c->nnodes == UNKNOWN || c->place.node_rank == UNKNOWN) {
		return c->nnodes == UNKNOWN ? "the number of nodes is not known"
					    : "this node is not told its rank";
	}
	if (!nodes_are_single(c)) {
		return "several tasks share this environment, and each would be another process";
	}
	*out = (struct counted){cluster_rendezvous_rank(c), c->nnodes};
	return NULL;
}

const char *starter_misplaced(const struct cluster *c) {
	bool shared = c->task.local_size != UNKNOWN && c->task.local_size > 1;
	if (c->scope == SCOPE_TASK && (shared || c->task.world_size != c->nnodes)) {
		return "the launcher starts the ranks itself: this wants one task per node";
	}
	if (c->scope != SCOPE_ALLOCATION && !nodes_are_single(c)) {
		return "a node has several tasks: this wants one per node";
	}
	return NULL;
}

struct str bracketed(struct arena *arena, struct str host) {
	if (str_find(host, ':') == host.len || host.p[0] == '[') {
		return host;
	}
	struct buf buf = BUF(arena);
	buf_putc(&buf, '[');
	buf_put(&buf, host);
	buf_putc(&buf, ']');
	return buf_str(&buf);
}

/** Say that there is no @name where nobody tells the master. */
static void leave_master_out(struct derivation *d, const char *name) {
	if (!derive_keeps(d, name)) {
		derive_leaves_out(d, name, "nobody tells the hosts");
	}
}

void derive_master_addr(struct derivation *d, const char *name) {
	if (d->cluster->master_addr.len == 0) {
		leave_master_out(d, name);
		return;
	}
	derive(d, name, d->cluster->master_addr, d->cluster->master_addr_why);
}

void derive_endpoint(struct derivation *d, const char *name, const char *why) {
	const struct cluster *c = d->cluster;
	if (c->master_addr.len == 0) {
		leave_master_out(d, name);
		return;
	}
	struct buf buf = BUF(d->env->arena);
	buf_put(&buf, bracketed(d->env->arena, c->master_addr));
	buf_putc(&buf, ':');
	buf_putu(&buf, c->master_port);
	derive(d, name, buf_str(&buf), why);
}

void derive_interface(struct derivation *d, const char *name, const char *before) {
	if (derive_keeps(d, name)) {
		return;
	}
	const struct interface *way = &d->interface;
	if (!way->name) {
		notes_add(d->notes, "%s is left out: %s", name, way->why);
		derive_leaves_out(d, name, way->why);
		return;
	}
	derive(d, name, str_of(arena_format(d->env->arena, "%s%s", before, way->name)), way->why);
}
