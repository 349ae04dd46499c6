// SPDX-License-Identifier: Apache-2.0

#include "cluster/cluster.h"

#include "base/nearest.h"
#include "cluster/rendezvous.h"
#include "cluster/source.h"

#include <errno.h>

const char *scope_name(enum scope scope) {
	return scope == SCOPE_NODE ? "node" : scope == SCOPE_TASK ? "task" : "allocation";
}

static int find_source(const struct input *in, const struct source **out, const char **by, struct err *err) {
	struct nearest best = {.word = str_of(in->cluster.value)};
	const struct source *named = NULL;
	for (size_t i = 0; sources[i]; i++) {
		if (in->cluster.value && strcmp(sources[i]->name, in->cluster.value) != 0) {
			nearest_try(&best, sources[i]->name);
			continue;
		}
		named = sources[i];
		*by = source_detect(in, named);
		if (*by) {
			*out = named;
			return 0;
		}
	}
	if (in->cluster.value && !named) {
		return err_set(err, ENOENT, "%s=%s: there is no such source%s; see 'distinit sources'",
			       in->cluster.from, quote(str_of(in->cluster.value)).s,
			       nearest_hint(&best, "").s);
	}
	if (in->cluster.value) {
		return err_set(err, EINVAL,
			       "%s=%s: its variables are not set here; 'distinit sources' lists them",
			       in->cluster.from, named->name);
	}
	*out = NULL;
	return 0;
}

/** The innermost launcher whose word counts where @source gave the placement, or NULL. */
static const struct launcher *find_launcher(const struct input *in, const struct source *source) {
	for (size_t i = 0; launchers[i]; i++) {
		const struct launcher *l = launchers[i];
		bool theirs =
			l->manager && source && !source->by_hand && strcmp(source->name, l->manager) != 0;
		if (!theirs && env_value(in->env, l->rank) && env_value(in->env, l->size) &&
		    (!l->detect || l->detect(in))) {
			return l;
		}
	}
	return NULL;
}

const char *launcher_recognised_by(const struct launcher *launcher) {
	return launcher->recognised_by ? launcher->recognised_by : launcher->rank;
}

uint32_t launcher_node_rank(struct input *in, const struct hosts *hosts) {
	uint32_t place = hosts_find_loosely(hosts, in->task.host);
	if (place == hosts->n) {
		place = hosts_find_loosely(hosts, str_of(input_hostname(in)));
	}
	return place == hosts->n ? UNKNOWN : place;
}

static int read_task(const struct input *in, const struct launcher *l, struct task *out, struct err *err) {
	int r = read_u32(in, l->rank, &out->rank, err);
	r = r < 0 ? r : read_u32(in, l->size, &out->world_size, err);
	r = r < 0 || !l->local_rank ? r : read_u32(in, l->local_rank, &out->local_rank, err);
	r = r < 0 || !l->local_size ? r : read_u32(in, l->local_size, &out->local_size, err);
	r = r < 0 ? r : check_below(l->rank, out->rank, l->size, out->world_size, err);
	r = r < 0 ? r : check_below(l->local_rank, out->local_rank, l->local_size, out->local_size, err);
	if (r == 0 && out->local_size != UNKNOWN && out->local_size > out->world_size) {
		r = err_set(err, EINVAL, "%s=%u is above %s=%u", l->local_size, out->local_size, l->size,
			    out->world_size);
	}
	out->host = str_of(l->host ? env_get(in->env, l->host) : NULL);
	return r;
}

static uint32_t count_tasks(const struct placement *place) {
	uint64_t sum = 0;
	for (uint32_t i = 0; i < place->hosts.n; i++) {
		sum += place->tasks_per_node[i];
	}
	return sum < UNKNOWN ? (uint32_t)sum : UNKNOWN;
}

/** The rank of task @local on node @node, if ranks are dealt as @place says. */
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

/** What holds for the layers together, whoever gave them. */
static int check_layers(struct cluster *c, struct err *err) {
	struct placement *place = &c->place;
	struct task *task = &c->task;
	// (Counts without a source are not possible, which the static checks cannot see.)
	if (!place->tasks_per_node || !c->launcher || !c->source) {
		return 0;
	}
	uint32_t sum = count_tasks(place);
	if (sum != task->world_size) {
		return err_set(err, EINVAL, "%s: the tasks of all nodes add up to %u, but %s=%u",
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
		return err_set(err, EINVAL, "%s=%u, but this node has %u tasks", c->launcher->local_rank,
			       task->local_rank, task->local_size);
	}
	// What the manager says of the layout is believed where it is true of this very task.
	if (place->layout != LAYOUT_UNKNOWN &&
	    (task->local_rank == UNKNOWN ||
	     rank_at(place, place->node_rank, task->local_rank) != task->rank)) {
		place->layout = LAYOUT_UNKNOWN;
	}
	return 0;
}

static int check_placement(const struct input *in, struct placement *place, struct err *err) {
	if (!place->hosts_from) {
		return check_below(place->node_rank_from, place->node_rank, place->nnodes_from, place->nnodes,
				   err);
	}
	int r = hosts_check(&place->hosts, in->arena, place->hosts_from, err);
	if (r < 0) {
		return r;
	}
	place->nnodes = place->hosts.n;
	if (place->node_rank != UNKNOWN && place->node_rank >= place->hosts.n) {
		return err_set(err, EINVAL, "%s=%u, but %s lists %u (0 to %u)", place->node_rank_from,
			       place->node_rank, place->hosts_from, place->hosts.n, place->hosts.n - 1);
	}
	return 0;
}

/**
 * A launcher that copies its environment to every node copies the variable that numbers a node, too: there, names and addresses alone
 * tell which node this is. What the user told by hand stands.
 */
static void distrust_copies(struct input *in, const struct cluster *c, struct placement *place) {
	bool copied = c->launcher && c->launcher->copies_env && !c->source->by_hand &&
		      place->node_rank != UNKNOWN && place->node_rank_from &&
		      env_value(in->env, place->node_rank_from);
	if (!copied) {
		return;
	}
	struct err several;
	place->node_rank = launcher_node_rank(in, &place->hosts);
	if (place->node_rank == UNKNOWN && self_find(in, &place->hosts, &place->node_rank, &several) < 1) {
		place->node_rank = UNKNOWN;
	}
}

/** The number of nodes that the user told completes what the manager tells, and may not contradict it. */
static int check_told_nnodes(const struct input *in, const struct cluster *c, struct placement *place,
			     struct err *err) {
	uint32_t told = told_nnodes(in);
	if (told == UNKNOWN || place->nnodes == told) {
		return 0;
	}
	if (place->nnodes != UNKNOWN) {
		return err_set(err, EINVAL, "%s=%u, but %s (%s) has %u node%s", in->nnodes.from, told,
			       place->hosts_from ? place->hosts_from : place->nnodes_from, c->source->name,
			       place->nnodes, place->nnodes == 1 ? "" : "s");
	}
	place->nnodes = told;
	place->nnodes_from = in->nnodes.from;
	return check_below(place->node_rank_from, place->node_rank, place->nnodes_from, told, err);
}

/** What holds where the user says by --scope that one of us runs on each node. */
static int check_scope(struct input *in, const struct cluster *c, struct err *err) {
	if (c->scope != SCOPE_NODE) {
		return 0;
	}
	if (c->launcher && c->task.local_size != UNKNOWN && c->task.local_size > 1) {
		return err_set(err, EINVAL, "%s=%s, but %s started %u processes on this node", in->scope.from,
			       in->scope.value, c->launcher->name, c->task.local_size);
	}
	if (c->place.hosts.n > 1 && c->place.node_rank == UNKNOWN) {
		return err_set(err, EINVAL,
			       "%s=%s: this machine, %s, is none of the %u hosts of %s; pass "
			       "--hostname=NAME, as it stands there",
			       in->scope.from, in->scope.value, quote(str_of(input_hostname(in))).s,
			       c->place.hosts.n, c->place.hosts_from);
	}
	return 0;
}

/** Without a manager: all that can be said is whether the launcher's ranks share one node, which is then this one. */
static void place_without_source(struct input *in, struct cluster *c) {
	if (c->task.world_size == 1 || c->task.local_size == c->task.world_size) {
		hosts_single(in->arena, STR("127.0.0.1"), &c->place.hosts);
		c->place.node_rank = 0;
		c->nnodes = 1;
	}
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

bool cluster_is_vague(const struct cluster *c) {
	return !c->launcher && c->nnodes == UNKNOWN && c->master_addr.len == 0;
}

/**
 * Say that what the user tells of a cluster is of no use where nobody else tells of one. An image may have --scope in a variable,
 * and run alone, too.
 */
static void note_unused(const struct input *in) {
	bool node = in->scope.value && in->scope_told == SCOPE_NODE && in->scope.from[0] == '-';
	const struct told *told = node ? &in->scope : &in->nnodes;
	if (node || (told->value && told_nnodes(in) > 1)) {
		notes_add(in->notes,
			  "%s=%s, but no cluster manager is recognised here, so nothing is derived; --hosts "
			  "tells a cluster by hand",
			  told->from, told->value);
	}
}

int cluster_read(struct input *in, struct cluster *out, struct err *err) {
	const struct task unknown_task = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, {0}};
	struct cluster c = {
		.nnodes = UNKNOWN,
		.place = {.nnodes = UNKNOWN,
			  .node_rank = UNKNOWN,
			  .nproc_per_node = UNKNOWN,
			  .scope = SCOPE_NODE},
		.task = unknown_task,
	};
	int r = find_source(in, &c.source, &c.recognised_by, err);
	if (r < 0) {
		return r;
	}
	c.launcher = find_launcher(in, c.source);
	in->launcher = c.launcher;
	if (!c.source && !c.launcher) {
		note_unused(in);
	}
	if ((!c.source && !c.launcher) || (c.launcher && c.launcher->complete)) {
		return 0;
	}
	if (c.launcher) {
		r = read_task(in, c.launcher, &c.task, err);
	}
	in->task = c.task;
	if (r == 0 && c.source) {
		r = c.source->read ? c.source->read(in, &c.place, err)
				   : row_read(in, c.source->row, c.recognised_by, &c.place, err);
		r = r < 0 ? r : check_placement(in, &c.place, err);
		r = r < 0 ? r : check_told_nnodes(in, &c, &c.place, err);
		if (r == 0) {
			distrust_copies(in, &c, &c.place);
		}
		c.nnodes = c.place.nnodes;
	} else if (r == 0) {
		c.recognised_by = launcher_recognised_by(c.launcher);
		place_without_source(in, &c);
		c.nnodes = c.nnodes == UNKNOWN ? told_nnodes(in) : c.nnodes;
	}
	c.scope = in->scope.value ? in->scope_told : c.launcher ? SCOPE_TASK : c.place.scope;
	r = r < 0 ? r : check_layers(&c, err);
	r = r < 0 || !in->scope.value ? r : check_scope(in, &c, err);
	r = r < 0 ? r : rendezvous_find(in, &c, err);
	if (r < 0) {
		return r;
	}
	*out = c;
	return 1;
}
