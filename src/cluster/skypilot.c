// SPDX-License-Identifier: Apache-2.0

/**
 * SkyPilot tasks. On each node of a cluster, on whatever cloud, it tells, as the second of two:
 *
 *     SKYPILOT_NODE_IPS=10.0.0.1        all of them, one a line, in rank order, which is not that of the numbers
 *     10.0.0.2
 *     SKYPILOT_NODE_RANK=1              this one
 *     SKYPILOT_NUM_NODES=2
 *     SKYPILOT_NUM_GPUS_PER_NODE=8      0 without GPUs
 *
 * The commands of a task's setup have SKYPILOT_SETUP_* instead: they run outside of the job, and are no node of it.
 *
 * Reference: docs/source/running-jobs/environment-variables.rst, distributed-jobs.rst of SkyPilot.
 */

#include "base/num.h"
#include "cluster/source.h"

#define IPS  "SKYPILOT_NODE_IPS"
#define RANK "SKYPILOT_NODE_RANK"
#define NUM  "SKYPILOT_NUM_NODES"
#define GPUS "SKYPILOT_NUM_GPUS_PER_NODE"

static const char *skypilot_detect(const struct input *in) {
	return env_value(in->env, IPS) ? IPS : NULL;
}

static int skypilot_read(struct input *in, struct placement *out, struct err *err) {
	uint32_t empty, num, gpus;
	out->hosts_from = IPS;
	out->node_rank_from = RANK;
	int r = hosts_split(in->arena, IPS, env_get(in->env, IPS), '\n', &out->hosts, &empty, err);
	r = r < 0 ? r : need_u32(in, RANK, IPS, &out->node_rank, err);
	r = r < 0 ? r : need_nnodes(in, NUM, IPS, &num, err);
	r = r < 0 ? r : check_count(NUM, num, out, err);
	if (r < 0) {
		return r;
	}
	// A share of a GPU is no number of processes.
	if (num_read_u32(str_of(env_value(in->env, GPUS)), &gpus) == 0 && gpus) {
		out->nproc_per_node = gpus;
	}
	out->job_id = env_value(in->env, "SKYPILOT_TASK_ID");
	return 0;
}

const struct source source_skypilot = {
	.name = "skypilot",
	.about = "SkyPilot task, on any cloud, Kubernetes or Slurm",
	.known_by = IPS,
	.reads = READS(IPS, RANK, NUM, GPUS, "SKYPILOT_TASK_ID"),
	.leaves = "SKYPILOT_SETUP_*: the setup runs outside of the job",
	.detect = skypilot_detect,
	.read = skypilot_read,
};
