// SPDX-License-Identifier: Apache-2.0

/**
 * Vertex AI custom training. Each replica has, here as the first of pool 1:
 *
 *     CLUSTER_SPEC={"cluster": {"workerpool0": ["cmle-training-workerpool0-ab-0:2222"],
 *                               "workerpool1": ["cmle-training-workerpool1-ab-0:2222"]},
 *                   "environment": "cloud", "task": {"type": "workerpool1", "index": 0}}
 *
 * Pool 0 is the chief, pool 1 has the workers. Pools 2 and 3 have parameter servers, reduction
 * servers and evaluators. They are not training nodes, so their tasks have no node rank. TF_CONFIG
 * exists only in distributed jobs, and is kept.
 *
 * Reference: "Distributed training" in Vertex AI's documentation.
 */

#include "cluster/source.h"
#include "source/json_hosts.h"

#define SPEC "CLUSTER_SPEC"

static int vertex_read(struct input *in, struct placement *out, struct err *err) {
	static const char *const pools[] = {"workerpool0", "workerpool1", NULL};
	out->job_id = env_value(in->env, "CLOUD_ML_JOB_ID");
	return json_pools_read(in, SPEC, pools, out, err);
}

const struct source source_vertex = {
	.name = "vertex",
	.about = "Vertex AI custom training",
	.reads = READS(SPEC, "CLOUD_ML_JOB_ID"),
	.leaves = "pools 2 and 3: servers and evaluators are not nodes; TF_CONFIG, which is kept",
	// The name is common: other software may use it.
	.row = "with=" SPEC ":*\"workerpool0\"*",
	.read = vertex_read,
};
