// SPDX-License-Identifier: Apache-2.0

/**
 * PyTorchJobs of Kubeflow's training operator (v1). The first of three workers, with eight
 * processes on each node, has
 *
 *     PET_NNODES=4    PET_NODE_RANK=1   PET_NPROC_PER_NODE=8
 *     MASTER_ADDR=bert-master-0         MASTER_PORT=23456     and both as PET_MASTER_*, too
 *     WORLD_SIZE=32   RANK=1            WORLD_SIZE counts processes, RANK counts nodes
 *
 * Only the master's name is given. An elastic job, whose PET_NNODES is a range, has PET_RDZV_*
 * instead. torchrun manages such a job itself.
 *
 * Reference: pkg/controller.v1/pytorch of Kubeflow's training operator 1.9.
 */

#include "cluster/source.h"
#include "source/pods.h"
#include "source/row.h"

#define ADDR "PET_MASTER_ADDR"

static const char *pytorchjob_detect(const struct input *in) {
	const char *addr = env_value(in->env, ADDR), *nnodes = env_value(in->env, "PET_NNODES");
	return addr && nnodes && !strchr(nnodes, ':') && pod_is_first(str_of(addr), STR("-master-0")) ? ADDR
												      : NULL;
}

static const struct source_row pytorchjob_row = {
	.variables =
		{
			[ROW_NNODES] = "PET_NNODES",
			[ROW_NODE_RANK] = "PET_NODE_RANK",
			[ROW_MASTER_ADDR] = ADDR,
			[ROW_MASTER_PORT] = "PET_MASTER_PORT",
			[ROW_NPROC_PER_NODE] = "PET_NPROC_PER_NODE",
		},
	.optional = ROW_BIT(ROW_MASTER_PORT),
};

const struct source source_pytorchjob = {
	.name = "pytorchjob",
	.about = "Kubeflow PyTorchJob (v1)",
	.known_by = ADDR " of the form JOB-master-0",
	.leaves = "RANK and WORLD_SIZE: RANK counts nodes, but WORLD_SIZE counts processes; a range in "
		  "PET_NNODES",
	.lacks = "the workers' names: pass --hosts if you need TF_CONFIG",
	.detect = pytorchjob_detect,
	.row = &pytorchjob_row,
};
