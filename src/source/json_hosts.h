// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Hosts in the JSON that some managers write. */

#include "base/buf.h"
#include "cluster/cluster.h"

struct cJSON;

/** What was read of a list of hosts. */
struct json_hosts {
	/** The names, each with a comma behind. */
	struct buf text;
	uint32_t n;
	/** The port of the first, or 0. */
	uint16_t port;
};

/**
 * Append the hosts of @array, texts that are "host" or "host:port". @what names the variable or file, @key the array, for messages.
 * Returns 0; -EINVAL if it is no array of such texts.
 */
int json_hosts_put(struct json_hosts *out, const char *what, const char *key, const struct cJSON *array,
		   struct err *err);

/**
 * Read {"cluster": {POOL: ["host:port", ...], ...}, "task": {"type": POOL, "index": N}}, as TF_CONFIG and CLUSTER_SPEC are, into
 * @out: the hosts of @pools, in their order up to a NULL, this node's place among them, and the first one's port. A task of another
 * pool has no node rank. A pool that is an object, as TFJob writes it where workers come and go, tells no hosts.
 *
 * Returns 0; -EINVAL.
 */
int json_pools_read(struct input *in, const char *what, const char *const *pools, struct placement *out,
		    struct err *err);
