// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Lists of hosts in the JSON of some managers. */

#include "base/buf.h"
#include "cluster/cluster.h"

struct cJSON;

/** Hosts read so far. */
struct json_hosts {
	/** The names, each followed by a comma. */
	struct buf text;
	uint32_t n;
	/** The port of the first, or 0. */
	uint16_t port;
};

/**
 * Append the hosts of @array, which has strings "host" or "host:port". @what names the variable or
 * file, and @key the array, for messages.
 * Returns 0; -EINVAL if it is not an array of such strings.
 */
int json_hosts_put(struct json_hosts *out, const char *what, const char *key, const struct cJSON *array,
		   struct err *err);

/**
 * Read {"cluster": {POOL: ["host:port", ...], ...}, "task": {"type": POOL, "index": N}}, the form
 * of TF_CONFIG and CLUSTER_SPEC, into @out: the hosts of @pools (in this order; NULL ends the
 * list), this node's index, and the port of the first host. A task of another pool has no node
 * rank. If a pool is an object, as TFJob writes it for dynamic workers, the hosts stay unknown.
 *
 * Returns 0; -EINVAL.
 */
int json_pools_read(struct input *in, const char *what, const char *const *pools, struct placement *out,
		    struct err *err);
