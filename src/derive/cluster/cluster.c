// SPDX-License-Identifier: Apache-2.0

#include "cluster/cluster.h"

#include "cluster/launcher.h"

#include <string.h>

const char *scope_name(enum scope scope) {
	return scope == SCOPE_NODE ? "node" : scope == SCOPE_TASK ? "task" : "allocation";
}

const char *launcher_recognised_by(const struct launcher *launcher) {
	return launcher->recognised_by ? launcher->recognised_by : launcher->rank;
}

void launcher_reads(const struct launcher *l, const char *out[LAUNCHER_READS]) {
	const char *const names[] = {l->recognised_by, l->rank,	   l->size,    l->local_rank, l->local_size,
				     l->ranks_here,    l->host[0], l->host[1], l->node};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i]) {
			*out++ = names[i];
		}
	}
	*out = NULL;
}

bool launched_by(const struct input *in, const char *name) {
	return in->found.launcher && strcmp(in->found.launcher->name, name) == 0;
}

bool cluster_is_single(const struct cluster *c) {
	uint32_t tasks = 1;
	if (c->launcher) {
		tasks = c->task.world_size;
	} else if (c->place.tasks_per_node && c->nnodes == 1) {
		tasks = c->place.tasks_per_node[0];
	}
	return (c->nnodes == 1 && tasks <= 1) || (c->launcher && c->task.world_size == 1);
}

bool cluster_shares_node(const struct cluster *c) {
	return c->launcher && c->task.local_size == c->task.world_size;
}

bool cluster_has_one_node(const struct cluster *c) {
	return c->nnodes == 1 || cluster_shares_node(c);
}

bool cluster_is_vague(const struct cluster *c) {
	return !c->launcher && c->nnodes == UNKNOWN && c->master_addr.len == 0;
}
