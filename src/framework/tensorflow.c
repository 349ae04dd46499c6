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

/** Bytes that are copied for a short text in any case: one instruction, instead of a call. */
#define WIDE 16

/** What follows a host: `:29500",`, whose port is counted on in place, cheaper than a division for each worker. */
struct suffix {
	char text[WIDE];
	size_t len;
};

static struct suffix suffix_of(uint32_t port) {
	struct suffix suffix = {.text = ":"};
	suffix.len = 1 + num_write(suffix.text + 1, port);
	suffix.text[suffix.len++] = '"';
	suffix.text[suffix.len++] = ',';
	return suffix;
}

/** The text under construction; `n` workers are in it. */
struct workers {
	const struct hosts *hosts;
	/** Some host is an IPv6 address, which gets brackets. */
	bool ipv6;
	char *at;
	uint32_t first_port;
	struct suffix suffix;
	uint32_t n;
};

/** Count the port on. One of 9, 99, ... grows by a digit, and the text is made anew. */
static void next_port(struct workers *out) {
	char *digit = out->suffix.text + out->suffix.len - 3;
	out->n++;
	while (*digit == '9') {
		*digit-- = '0';
	}
	if (*digit == ':') {
		out->suffix = suffix_of(out->first_port + out->n);
	} else {
		++*digit;
	}
}

static void add_worker(struct workers *out, uint32_t node) {
	struct span span = out->hosts->spans[node];
	const char *host = out->hosts->text + span.at;
	char *at = out->at;
	*at++ = '"';
	bool bracket = out->ipv6 && memchr(host, ':', span.len);
	if (bracket) {
		*at++ = '[';
	}
	if (span.len <= WIDE && out->hosts->size - span.at >= WIDE) {
		memcpy(at, host, WIDE);
	} else {
		memcpy(at, host, span.len);
	}
	at += span.len;
	if (bracket) {
		*at++ = ']';
	}
	memcpy(at, out->suffix.text, WIDE);
	out->at = at + out->suffix.len;
	next_port(out);
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

static void add_block(struct workers *out, const struct cluster *c) {
	for (uint32_t i = 0; i < c->nnodes; i++) {
		for (uint32_t n = workers_on(c, i); n; n--) {
			add_worker(out, i);
		}
	}
}

static void add_cyclic(struct workers *out, const struct cluster *c) {
	for (uint32_t round = 0; out->n < c->task.world_size; round++) {
		for (uint32_t i = 0; i < c->nnodes; i++) {
			if (workers_on(c, i) > round) {
				add_worker(out, i);
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

	const struct hosts *hosts = &c->place.hosts;
	char *text =
		arena_alloc(d->env->arena, room_for(c) + sizeof(HEAD MIDDLE TAIL) + NUM_DIGITS + 2 * WIDE);
	struct workers out = {
		.hosts = hosts,
		.ipv6 = memchr(hosts->text, ':', hosts->size),
		.at = mempcpy(text, HEAD, sizeof(HEAD) - 1),
		.first_port = c->master_port,
		.suffix = suffix_of(c->master_port),
	};
	if (c->place.layout == LAYOUT_CYCLIC && c->scope == SCOPE_TASK) {
		add_cyclic(&out, c);
	} else {
		add_block(&out, c);
	}
	char *at = mempcpy(out.at - 1, MIDDLE, sizeof(MIDDLE) - 1);
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
