// SPDX-License-Identifier: Apache-2.0

/**
 * Questions that all frameworks ask: which of the processes this one is, whether a program that
 * starts ranks (torchrun and similar) is useful here, and how to write an endpoint.
 */

#include "base/buf.h"
#include "cluster/endpoint.h"
#include "framework/framework.h"

/** Whether each node has one task, or the manager gives no counts. */
static bool nodes_are_single(const struct cluster *c) {
	for (uint32_t i = 0; c->place.tasks_per_node && i < c->place.hosts.n; i++) {
		if (c->place.tasks_per_node[i] != 1) {
			return false;
		}
	}
	return true;
}

uint32_t master_node_of(const struct derivation *d, const char *name) {
	const char *set = env_value(d->env, name);
	struct str host;
	struct err none;
	// The framework itself reports a value that is not an address. MASTER_ADDR has been read already.
	bool read = set && strcmp(name, "MASTER_ADDR") != 0 &&
		    endpoint_read(name, str_of(set), &host, NULL, &none) == 0;
	return read ? cluster_node_at(d->cluster, host) : d->cluster->master_node;
}

const char *process_of(const struct derivation *d, const char *master, struct counted *out) {
	const struct cluster *c = d->cluster;
	if (c->scope == SCOPE_ALLOCATION) {
		return "this process is not a rank, and every task inherits what is set here";
	}
	if (c->scope == SCOPE_TASK) {
		*out = (struct counted){c->task.rank, c->task.world_size};
		return NULL;
	}
	if (c->nnodes == UNKNOWN || c->place.node_rank == UNKNOWN) {
		return c->nnodes == UNKNOWN ? "the number of nodes is not known"
					    : "this node's rank is not known";
	}
	if (!nodes_are_single(c)) {
		return "several tasks share this environment, but each is a different process";
	}
	*out = (struct counted){cluster_rank_around(c, master_node_of(d, master)), c->nnodes};
	return NULL;
}

void derive_process(struct derivation *d, const char *master, const char *size, const char *rank) {
	struct counted self;
	const char *why = process_of(d, master, &self);
	if (size && why) {
		derive_leaves_out(d, size, why);
	} else if (size) {
		derive_number(d, size, self.size, "the number of processes");
	}
	if (why) {
		derive_leaves_out(d, rank, why);
		return;
	}
	derive_number(d, rank, self.rank, "this process's number; the master's is 0");
}

const char *starter_misplaced(const struct cluster *c) {
	bool shared = c->task.local_size != UNKNOWN && c->task.local_size > 1;
	if (c->scope == SCOPE_TASK && (shared || c->task.world_size != c->nnodes)) {
		return "the launcher starts the ranks itself: this needs one task per node";
	}
	if (c->scope != SCOPE_ALLOCATION && !nodes_are_single(c)) {
		return "a node has several tasks: this needs one per node";
	}
	return NULL;
}
