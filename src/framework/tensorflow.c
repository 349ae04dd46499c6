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

#include "base/num.h"
#include "framework/framework.h"

#define NAME   "TF_CONFIG"
#define HEAD   NAME "={\"cluster\":{\"worker\":["
#define MIDDLE "]},\"task\":{\"type\":\"worker\",\"index\":"
#define TAIL   "}}"

/** A port in decimal, counted on in place: cheaper than a division for each worker. */
struct counter {
	char digits[NUM_DIGITS];
	size_t len;
};

static void counter_next(struct counter *port) {
	size_t i = port->len;
	while (i > 0 && port->digits[i - 1] == '9') {
		port->digits[--i] = '0';
	}
	if (i > 0) {
		port->digits[i - 1]++;
		return;
	}
	port->digits[0] = '1';
	port->digits[port->len++] = '0';
}

/** The text under construction; `n` workers are in it. */
struct workers {
	char *at;
	struct counter port;
	uint32_t n;
};

/** Append at most 253 bytes without the call that they are too short for. */
static char *put(char *at, const char *text, size_t len) {
	if (len >= 8) {
		for (size_t i = 0; i + 8 <= len; i += 8) {
			memcpy(at + i, text + i, 8);
		}
		memcpy(at + len - 8, text + len - 8, 8);
	} else if (len >= 4) {
		memcpy(at, text, 4);
		memcpy(at + len - 4, text + len - 4, 4);
	} else {
		for (size_t i = 0; i < len; i++) {
			at[i] = text[i];
		}
	}
	return at + len;
}

static void add_worker(struct workers *out, struct str host) {
	char *at = out->at;
	// An address of IPv6 has colons of its own. Names are short: a loop beats memchr().
	bool bracket = false;
	for (size_t i = 0; i < host.len; i++) {
		bracket |= host.p[i] == ':';
	}
	*at++ = '"';
	if (bracket) {
		*at++ = '[';
	}
	at = put(at, host.p, host.len);
	if (bracket) {
		*at++ = ']';
	}
	*at++ = ':';
	at = put(at, out->port.digits, out->port.len);
	*at++ = '"';
	*at++ = ',';
	out->at = at;
	out->n++;
	counter_next(&out->port);
}

/** Bytes that add_worker() writes at most, for every task (or node) of @c together. */
static size_t room_for(const struct cluster *c) {
	const size_t around = sizeof("\"[]:65535\",") - 1;
	size_t size = 0;
	for (uint32_t i = 0; i < c->nnodes; i++) {
		size_t tasks = c->scope == SCOPE_TASK ? c->place.tasks_per_node[i] : 1;
		size += tasks * (c->place.hosts.spans[i].len + around);
	}
	return size;
}

static void add_block(struct workers *out, const struct cluster *c) {
	for (uint32_t i = 0; i < c->nnodes; i++) {
		struct str host = hosts_at(&c->place.hosts, i);
		for (uint32_t n = c->scope == SCOPE_TASK ? c->place.tasks_per_node[i] : 1; n; n--) {
			add_worker(out, host);
		}
	}
}

static void add_cyclic(struct workers *out, const struct cluster *c) {
	for (uint32_t round = 0; out->n < c->task.world_size; round++) {
		for (uint32_t i = 0; i < c->nnodes; i++) {
			if (c->place.tasks_per_node[i] > round) {
				add_worker(out, hosts_at(&c->place.hosts, i));
			}
		}
	}
}

/** Why there can be no TF_CONFIG, or NULL. */
static const char *not_possible(const struct cluster *c) {
	if (c->scope == SCOPE_ALLOCATION) {
		return "this process is no rank, and a worker's index would reach every task";
	}
	if (c->nnodes == UNKNOWN) {
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
		leave_out(d,
			  arena_format(d->env->arena,
				       "worker %u of %u would get port 65536; choose a lower --master-port",
				       (uint32_t)UINT16_MAX - c->master_port + 1, workers));
		return;
	}

	char *text = arena_alloc(d->env->arena, room_for(c) + sizeof(HEAD MIDDLE TAIL) + NUM_DIGITS);
	struct workers out = {.at = put(text, HEAD, sizeof(HEAD) - 1)};
	out.port.len = num_write(out.port.digits, c->master_port);
	if (c->place.layout == LAYOUT_CYCLIC && c->scope == SCOPE_TASK) {
		add_cyclic(&out, c);
	} else {
		add_block(&out, c);
	}
	char *at = put(out.at - 1, MIDDLE, sizeof(MIDDLE) - 1);
	at += num_write(at, index);
	at = put(at, TAIL, sizeof(TAIL));
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
