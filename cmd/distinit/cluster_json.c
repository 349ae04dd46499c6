// SPDX-License-Identifier: Apache-2.0

#include "distinit/cluster_json.h"

#include "base/secret.h"

static void put_hosts(struct json *json, const struct hosts *hosts) {
	if (hosts->n == 0) {
		json_text(json, "hosts", NULL);
		return;
	}
	json_open(json, "hosts", '[');
	for (uint32_t i = 0; i < hosts->n; i++) {
		json_string(json, NULL, hosts_at(hosts, i));
	}
	json_close(json, ']');
}

static void put_tasks(struct json *json, const struct placement *place) {
	// For a job script only the slots are known: the largest number of processes that a node will have.
	const uint32_t *tasks = place->tasks_per_node ? place->tasks_per_node : place->slots;
	if (!tasks) {
		json_text(json, "tasks_per_node", NULL);
		return;
	}
	json_open(json, "tasks_per_node", '[');
	for (uint32_t i = 0; i < place->hosts.n; i++) {
		json_number(json, NULL, tasks[i]);
	}
	json_close(json, ']');
}

/** The manager's number of processes per node; or the number that all nodes have in common. */
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

void cluster_json(const struct cluster *c, struct json *json) {
	if (!c) {
		json_text(json, "cluster", NULL);
		return;
	}
	struct arena *arena = json->out->arena;
	bool derived = !cluster_is_single(c);
	json_open(json, "cluster", '{');
	put_hosts(json, &c->place.hosts);
	json_number(json, "nnodes", c->nnodes);
	json_number(json, "node_rank", c->place.node_rank);
	json_number(json, "nproc_per_node", nproc_per_node(&c->place));
	json_number(json, "world_size", c->task.world_size);
	json_number(json, "rank", c->task.rank);
	json_number(json, "local_rank", c->task.local_rank);
	json_number(json, "local_size", c->task.local_size);
	json_number(json, "master_port", derived && !cluster_is_vague(c) ? c->master_port : UNKNOWN);
	put_tasks(json, &c->place);
	json_text(json, "job_id", secret_text(arena, c->place.job_id));
	json_text(json, "master_addr",
		  c->master_addr.len && derived
			  ? secret_text(arena, arena_text(arena, c->master_addr.p, c->master_addr.len))
			  : NULL);
	json_close(json, '}');
}
