// SPDX-License-Identifier: Apache-2.0

#include "cluster/check.h"

#include <errno.h>
#include <string.h>

static uint32_t count_tasks(const struct placement *place) {
	uint64_t sum = 0;
	for (uint32_t i = 0; i < place->hosts.n; i++) {
		sum += place->tasks_per_node[i];
	}
	return sum < UNKNOWN ? (uint32_t)sum : UNKNOWN;
}

/** The rank of task @local on node @node, if the ranks have the layout of @place. */
static uint32_t rank_at(const struct placement *place, uint32_t node, uint32_t local) {
	uint64_t rank = 0;
	for (uint32_t i = 0; i < place->hosts.n; i++) {
		uint32_t tasks = place->tasks_per_node[i];
		if (place->layout == LAYOUT_BLOCK) {
			rank += i < node ? tasks : i == node ? local : 0;
		} else {
			rank += (tasks < local ? tasks : local) + (i < node && tasks > local);
		}
	}
	return (uint32_t)rank;
}

/** The scope if no launcher started this process. */
static enum scope placed_scope(const struct input *in, const struct cluster *c) {
	return in->scope.value ? in->scope_given : c->place.scope;
}

int check_node_rank_needs(const struct input *in, const struct cluster *c, struct err *err) {
	bool of_node = c && c->source && (c->source->by_hand || placed_scope(in, c) == SCOPE_NODE);
	if (in->node_rank.value && !of_node) {
		return err_set(err, EINVAL,
			       "%s needs --hosts, --hostfile or --read, or --nnodes and --master-addr, "
			       "which are not given",
			       in->node_rank.from);
	}
	return 0;
}

int check_given_node_rank(const struct input *in, const struct cluster *c, struct placement *place,
			  struct err *err) {
	const struct setting *given = &in->node_rank;
	uint32_t rank = UNKNOWN;
	if (!given->value || c->source->by_hand || placed_scope(in, c) != SCOPE_NODE) {
		return 0;
	}
	int r = parse_u32(given->from, given->value, &rank, err);
	bool copied = c->launcher && c->launcher->copies_env;
	if (r == 0 && !copied && place->node_rank != UNKNOWN && place->node_rank != rank) {
		return err_set(err, EINVAL,
			       "%s=%u, but %s says that this is node %u; remove %s, or pass --hosts, too",
			       given->from, rank, c->source->name, place->node_rank, given->from);
	}
	place->node_rank = rank;
	place->node_rank_from = given->from;
	r = r < 0 || place->hosts_from
		    ? r
		    : check_below(given->from, rank, place->nnodes_from, place->nnodes, err);
	return r < 0 || !place->hosts_from ? r : check_index(given->from, rank, place, err);
}

int check_layers(struct cluster *c, struct err *err) {
	struct placement *place = &c->place;
	struct task *task = &c->task;
	// (Static checkers cannot see that counts always have a source.)
	if (!place->tasks_per_node || !c->launcher || !c->source) {
		return 0;
	}
	uint32_t sum = count_tasks(place);
	if (sum != task->world_size) {
		return err_set(err, EINVAL, "%s: the tasks of all nodes add up to %u, but %s=%u" ONE_IS_STALE,
			       c->source->name, sum, c->launcher->size, task->world_size);
	}
	if (place->node_rank == UNKNOWN) {
		place->layout = LAYOUT_UNKNOWN;
		return 0;
	}
	if (task->local_size == UNKNOWN) {
		task->local_size = place->tasks_per_node[place->node_rank];
	}
	if (task->local_rank != UNKNOWN && task->local_rank >= task->local_size) {
		return err_set(err, EINVAL, "%s=%u, but this node has %u tasks" ONE_IS_STALE,
			       c->launcher->local_rank, task->local_rank, task->local_size);
	}
	// Use the manager's layout only if it gives this task its actual rank.
	if (place->layout != LAYOUT_UNKNOWN &&
	    (task->local_rank == UNKNOWN ||
	     rank_at(place, place->node_rank, task->local_rank) != task->rank)) {
		place->layout = LAYOUT_UNKNOWN;
	}
	return 0;
}

int check_placement(const struct input *in, struct placement *place, struct err *err) {
	// The user's MASTER_ADDR is checked later, and stays as it is.
	if (place->master_addr.len && strcmp(place->master_addr_from, "MASTER_ADDR") != 0 &&
	    !host_name_is_fine(place->master_addr)) {
		return host_name_refuse(place->master_addr, place->master_addr_from, err);
	}
	if (!place->hosts_from) {
		return check_below(place->node_rank_from, place->node_rank, place->nnodes_from, place->nnodes,
				   err);
	}
	int r = hosts_check(&place->hosts, in->arena, place->hosts_from, err);
	if (r < 0) {
		return r;
	}
	place->nnodes = place->hosts.n;
	return check_index(place->node_rank_from, place->node_rank, place, err);
}

int check_given_nnodes(const struct input *in, const struct cluster *c, struct placement *place,
		       struct err *err) {
	uint32_t given = given_nnodes(in);
	if (given == UNKNOWN || place->nnodes == given) {
		return 0;
	}
	if (place->nnodes != UNKNOWN) {
		return err_set(err, EINVAL, "%s=%u, but %s (%s) has %u node%s; remove %s", in->nnodes.from,
			       given, place->hosts_from ? place->hosts_from : place->nnodes_from,
			       c->source->name, place->nnodes, place->nnodes == 1 ? "" : "s",
			       in->nnodes.from);
	}
	place->nnodes = given;
	place->nnodes_from = in->nnodes.from;
	return check_below(place->node_rank_from, place->node_rank, place->nnodes_from, given, err);
}

int check_scope(struct input *in, const struct cluster *c, struct err *err) {
	if (c->scope != SCOPE_NODE) {
		return 0;
	}
	const bool counted = c->task.local_size != UNKNOWN;
	// A local rank alone gives the least number of processes. UNKNOWN + 1 is 0.
	const uint32_t n = counted ? c->task.local_size : c->task.local_rank + 1;
	if (c->launcher && n > 1) {
		return err_set(err, EINVAL,
			       "%s=%s, but %s started %s%u processes on this node; start one, or remove %s",
			       in->scope.from, in->scope.value, c->launcher->name, counted ? "" : "at least ",
			       n, in->scope.from);
	}
	if (c->place.hosts.n > 1 && c->place.node_rank == UNKNOWN) {
		return err_set(err, EINVAL,
			       "%s=%s: this machine, %s, is not among the %u hosts of %s; "
			       "pass --hostname=NAME with its name from that list",
			       in->scope.from, in->scope.value, quote_text(input_hostname(in)).s,
			       c->place.hosts.n, c->place.hosts_from);
	}
	return 0;
}
