// SPDX-License-Identifier: Apache-2.0

/**
 * Allocations of Nomad. Each of a group has
 *
 *     NOMAD_ALLOC_INDEX=2   NOMAD_GROUP_NAME=train
 *
 * and no size and no hosts, and most have nothing to do with each other. So this is described, and nothing is derived, unless the
 * user tells the rest.
 *
 * Reference: "Runtime environment settings" in Nomad's documentation.
 */

#include "base/num.h"
#include "cluster/source.h"

#define INDEX "NOMAD_ALLOC_INDEX"

static const char *nomad_detect(const struct input *in) {
	uint32_t index;
	return num_read_u32(str_of(env_value(in->env, INDEX)), &index) == 0 ? INDEX : NULL;
}

static int nomad_read(struct input *in, struct placement *out, struct err *err) {
	out->node_rank_from = INDEX;
	out->job_id = env_value(in->env, "NOMAD_JOB_NAME");
	return read_u32(in, INDEX, &out->node_rank, err);
}

const struct source source_nomad = {
	.name = "nomad",
	.about = "Nomad allocation",
	.known_by = INDEX,
	.reads = READS(INDEX, "NOMAD_JOB_NAME"),
	.leaves = "NOMAD_ADDR_*: this allocation's own",
	.lacks = "how many allocations there are, and where: pass --nnodes and --master-addr, or --hosts and "
		 "--node-rank",
	.detect = nomad_detect,
	.read = nomad_read,
};
