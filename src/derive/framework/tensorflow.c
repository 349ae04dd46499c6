// SPDX-License-Identifier: Apache-2.0

/**
 * TensorFlow's TF_CONFIG, which lists all tasks for every task:
 *
 *     {"cluster":{"worker":["main1:29500","sub1:29501"]},"task":{"type":"worker","index":1}}
 *
 * Task i listens on the master's port + i, so that tasks may share a host. All tasks are workers,
 * unless the user sets roles: then each role has a list of its own, and the evaluator is in no list.
 *
 * Reference: tensorflow/python/distribute/cluster_resolver/tfconfig_cluster_resolver.py of TensorFlow.
 */

#include "base/buf.h"
#include "cluster/endpoint.h"
#include "framework/framework.h"

#define NAME "TF_CONFIG"

static uint32_t count_tasks(const struct cluster *c) {
	return c->scope == SCOPE_TASK ? c->task.world_size : c->nnodes;
}

/** The number of tasks on node @node. */
static uint32_t workers_on(const struct cluster *c, uint32_t node) {
	return c->scope == SCOPE_TASK ? c->place.tasks_per_node[node] : 1;
}

/** The tasks in the order of their numbers: node after node, or one of each node in turn. */
struct task_walk {
	const struct cluster *cluster;
	bool cyclic;
	uint32_t round;
	uint32_t node;
	/** The tasks of this node that were returned; if cyclic, in this round. */
	uint32_t done;
};

/** The node of the next task. There must be one. */
static uint32_t walk_next(struct task_walk *walk) {
	for (;;) {
		uint32_t tasks = workers_on(walk->cluster, walk->node);
		uint32_t here = walk->cyclic ? tasks > walk->round : tasks;
		if (walk->done < here) {
			walk->done++;
			return walk->node;
		}
		walk->done = 0;
		if (++walk->node == walk->cluster->place.hosts.n) {
			walk->node = 0;
			walk->round++;
		}
	}
}

/** Append the list of a role's tasks: "worker":["main1:29500","sub1:29501"]. */
static void put_role(struct buf *out, const struct tf_role *role, struct task_walk *walk, uint32_t *port) {
	buf_putc(out, '"');
	buf_puts(out, role->name);
	buf_puts(out, "\":[");
	for (uint32_t i = 0; i < role->tasks; i++) {
		struct str host = hosts_at(&walk->cluster->place.hosts, walk_next(walk));
		buf_put(out, i == 0 ? STR("\"") : STR(",\""));
		endpoint_put(out, host, (*port)++);
		buf_putc(out, '"');
	}
	buf_putc(out, ']');
}

/** Append the lists of all roles except the evaluator. */
static void put_roles(struct buf *out, const struct cluster *c, bool cyclic, const struct tf_roles *roles) {
	uint32_t port = c->master_port;
	struct task_walk walk = {.cluster = c, .cyclic = cyclic};
	const char *before = "";
	for (uint32_t i = 0; i < roles->n; i++) {
		if (tf_role_is_listed(&roles->list[i])) {
			buf_puts(out, before);
			put_role(out, &roles->list[i], &walk, &port);
			before = ",";
			continue;
		}
		for (uint32_t k = 0; k < roles->list[i].tasks; k++) {
			walk_next(&walk);
			port++;
		}
	}
}

/** Append the role of task @index, and its number in that role. */
static void put_task(struct buf *out, const struct tf_roles *roles, uint32_t index) {
	const struct tf_role *role = roles->list;
	while (index >= role->tasks) {
		index -= role++->tasks;
	}
	buf_puts(out, "\"type\":\"");
	buf_puts(out, role->name);
	buf_puts(out, "\",\"index\":");
	buf_putu(out, index);
}

/** Why there can be no TF_CONFIG, or NULL. */
static const char *not_possible(const struct cluster *c) {
	if (c->scope == SCOPE_ALLOCATION) {
		return "this process is not a rank, and a worker's index would reach every task";
	}
	if (c->place.hosts.n == 0) {
		return "the hosts are not known";
	}
	if (c->scope == SCOPE_TASK && !c->place.tasks_per_node) {
		return "which rank runs on which host is not known";
	}
	if (c->scope == SCOPE_TASK && c->place.layout == LAYOUT_UNKNOWN) {
		return "the distribution of ranks to nodes is unknown (neither block nor cyclic)";
	}
	if (c->scope == SCOPE_NODE && c->place.node_rank == UNKNOWN) {
		return "this node's rank is not known";
	}
	for (uint32_t i = 0; c->scope == SCOPE_NODE && c->place.tasks_per_node && i < c->nnodes; i++) {
		if (c->place.tasks_per_node[i] != 1) {
			return "several tasks share this environment, and each would be another worker";
		}
	}
	return NULL;
}

static void leave_out(struct derivation *d, const char *why) {
	notes_add(d->notes, NAME " is left out: %s", why);
	derive_leaves_out(d, NAME, why);
}

/** Check the given roles against the cluster: a job that waits for a missing role hangs. */
static int tensorflow_check(struct derivation *d, struct err *err) {
	struct tf_roles *roles = &d->tf_roles;
	if (!roles->text || env_value(d->env, NAME) || not_possible(d->cluster)) {
		return 0;
	}
	return tf_roles_fit(roles, count_tasks(d->cluster), err);
}

static void tensorflow_derive(struct derivation *d) {
	const struct cluster *c = d->cluster;
	if (derive_keeps(d, NAME)) {
		return;
	}
	const char *why = not_possible(c);
	if (why) {
		derive_leaves_out(d, NAME, why);
		return;
	}
	uint32_t workers = count_tasks(c);
	uint32_t index = c->scope == SCOPE_TASK ? c->task.rank : c->place.node_rank;
	if (workers - 1 > (uint32_t)UINT16_MAX - c->master_port) {
		leave_out(d, arena_format(
				     d->env->arena,
				     "worker %u of %u would get port 65536; choose a port lower than %u (%s)",
				     (uint32_t)UINT16_MAX - c->master_port + 1, workers, c->master_port,
				     c->master_port_why));
		return;
	}

	const struct tf_roles all = {.list = {{"worker", workers}}, .n = 1};
	const struct tf_roles *roles = d->tf_roles.n ? &d->tf_roles : &all;
	bool cyclic = c->scope == SCOPE_TASK && c->place.layout == LAYOUT_CYCLIC;
	struct buf text = BUF(d->env->arena);
	buf_puts(&text, NAME "={\"cluster\":{");
	put_roles(&text, c, cyclic, roles);
	buf_puts(&text, "},\"task\":{");
	put_task(&text, roles, index);
	buf_puts(&text, "}}");
	size_t size = text.len + 1;
	if (size > ENV_TEXT_MAX) {
		leave_out(
			d,
			arena_format(
				d->env->arena,
				"with %u workers it has %zu bytes, and the kernel takes %zu in one variable",
				workers, size, ENV_TEXT_MAX));
		return;
	}
	derive_text(
		d, buf_text(&text), sizeof(NAME) - 1,
		roles->text
			? arena_format(
				  d->env->arena,
				  "the tasks in rank order with the roles of %s, and which of them this is",
				  roles->from)
			: "the workers in rank order, and which of them this is");
}

const struct framework framework_tensorflow = {
	.name = "tensorflow",
	.about = "TensorFlow's multi-worker strategies",
	.sets = NAME,
	.standard = true,
	.check = tensorflow_check,
	.derive = tensorflow_derive,
};
