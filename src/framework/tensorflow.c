// SPDX-License-Identifier: Apache-2.0

/**
 * TensorFlow's TF_CONFIG, which tells every worker of all workers:
 *
 *     {"cluster":{"worker":["main1:29500","sub1:29501"]},"task":{"type":"worker","index":1}}
 *
 * Worker i listens on the master's port + i, so that workers may share a host.
 *
 * Reference: tensorflow/python/distribute/cluster_resolver/tfconfig_cluster_resolver.py of TensorFlow.
 */

#include "base/counter.h"
#include "framework/framework.h"

#define NAME   "TF_CONFIG"
#define HEAD   NAME "={\"cluster\":{\"worker\":["
#define MIDDLE "]},\"task\":{\"type\":\"worker\",\"index\":"
#define TAIL   "}}"

/** What is copied of a short name in any case: one instruction, instead of a call. */
#define WIDE 16

/** A long name, an IPv6 address, or a name at the very end of its text. Apart, so that the loop needs few registers. */
static __attribute__((noinline)) char *put_unusual(char *at, struct str host) {
	bool bracket = str_find(host, ':') < host.len;
	if (bracket) {
		*at++ = '[';
	}
	at = mempcpy(at, host.p, host.len);
	if (bracket) {
		*at++ = ']';
	}
	return at;
}

/** Write a worker at @at, where there is room for WIDE bytes more than it takes. Returns the place behind it. */
static inline char *put_worker(char *at, const struct hosts *hosts, uint32_t node, struct counter *port) {
	struct span span = hosts->spans[node];
	*at++ = '"';
	if (span.len <= WIDE && hosts->size - span.at >= WIDE && !hosts->ipv6) {
		memcpy(at, hosts->text + span.at, WIDE);
		at += span.len;
	} else {
		at = put_unusual(at, hosts_at(hosts, node));
	}
	*at++ = ':';
	at = counter_put(port, at);
	counter_next(port);
	*at++ = '"';
	*at++ = ',';
	return at;
}

/** Tasks on a node that are workers. */
static uint32_t workers_on(const struct cluster *c, uint32_t node) {
	return c->scope == SCOPE_TASK ? c->place.tasks_per_node[node] : 1;
}

/** Bytes that all workers take at most. */
static size_t room_for(const struct cluster *c) {
	const size_t around = sizeof("\"[]:65535\",") - 1;
	if (c->scope != SCOPE_TASK) {
		return c->place.hosts.size + c->nnodes * around;
	}
	size_t size = 0;
	for (uint32_t i = 0; i < c->nnodes; i++) {
		size += workers_on(c, i) * (c->place.hosts.spans[i].len + around);
	}
	return size;
}

/** Write all workers, node after node, or one of each node in turn. Returns the place behind the last comma. */
static char *put_workers(char *at, const struct cluster *c, bool cyclic) {
	const struct hosts hosts = c->place.hosts;
	struct counter port = counter_of(c->master_port, 1);
	uint32_t left = c->scope == SCOPE_TASK ? c->task.world_size : c->nnodes;
	for (uint32_t round = 0; left; round++) {
		for (uint32_t i = 0; i < hosts.n; i++) {
			uint32_t tasks = workers_on(c, i);
			uint32_t n = cyclic ? tasks > round : tasks;
			for (left -= n; n; n--) {
				at = put_worker(at, &hosts, i, &port);
			}
		}
	}
	return at;
}

/** Why there can be no TF_CONFIG, or NULL. */
static const char *not_possible(const struct cluster *c) {
	if (c->scope == SCOPE_ALLOCATION) {
		return "this process is no rank, and a worker's index would reach every task";
	}
	if (c->place.hosts.n == 0) {
		return "nobody tells the hosts";
	}
	if (c->scope == SCOPE_TASK && !c->place.tasks_per_node) {
		return "which rank runs on which host is not told";
	}
	if (c->scope == SCOPE_TASK && c->place.layout == LAYOUT_UNKNOWN) {
		return "how the ranks are dealt to the nodes is not known (neither block nor cyclic)";
	}
	if (c->scope == SCOPE_NODE && c->place.node_rank == UNKNOWN) {
		return "this node is not told its rank";
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
	uint32_t workers = c->scope == SCOPE_TASK ? c->task.world_size : c->nnodes;
	uint32_t index = c->scope == SCOPE_TASK ? c->task.rank : c->place.node_rank;
	if (workers - 1 > (uint32_t)UINT16_MAX - c->master_port) {
		leave_out(d, arena_format(
				     d->env->arena,
				     "worker %u of %u would get port 65536; choose a port lower than %u (%s)",
				     (uint32_t)UINT16_MAX - c->master_port + 1, workers, c->master_port,
				     c->master_port_why));
		return;
	}

	char *text = arena_alloc(d->env->arena, room_for(c) + sizeof(HEAD MIDDLE TAIL) + NUM_DIGITS + WIDE);
	char *at = mempcpy(text, HEAD, sizeof(HEAD) - 1);
	at = put_workers(at, c, c->scope == SCOPE_TASK && c->place.layout == LAYOUT_CYCLIC);
	at = mempcpy(at - 1, MIDDLE, sizeof(MIDDLE) - 1);
	at += num_write(at, index);
	at = mempcpy(at, TAIL, sizeof(TAIL));
	size_t size = (size_t)(at - text);
	if (size > ENV_TEXT_MAX) {
		leave_out(
			d,
			arena_format(
				d->env->arena,
				"with %u workers it has %zu bytes, and the kernel takes %zu in one variable",
				workers, size, ENV_TEXT_MAX));
		return;
	}
	derive_text(d, text, sizeof(NAME) - 1, "the workers in rank order, and which of them this is");
}

const struct framework framework_tensorflow = {
	.name = "tensorflow",
	.about = "TensorFlow's multi-worker strategies",
	.sets = NAME,
	.standard = true,
	.derive = tensorflow_derive,
};
