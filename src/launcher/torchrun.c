// SPDX-License-Identifier: Apache-2.0

/**
 * Processes that torchrun started. torchrun sets everything that torch.distributed reads
 * (MASTER_ADDR, RANK, LOCAL_RANK, ...). So there is nothing left to derive, under any manager.
 *
 * Reference: torch/distributed/elastic/agent/server/local_elastic_agent.py of PyTorch.
 */

#include "cluster/launcher.h"

static bool torchrun_detect(const struct input *in) {
	return env_value(in->env, "TORCHELASTIC_RUN_ID");
}

const struct launcher launcher_torchrun = {
	.name = "torchrun",
	.about = "torchrun's child processes, which stay unchanged",
	.rank = "RANK",
	.size = "WORLD_SIZE",
	.local_rank = "LOCAL_RANK",
	.local_size = "LOCAL_WORLD_SIZE",
	.recognised_by = "TORCHELASTIC_RUN_ID",
	.detect = torchrun_detect,
	.complete = true,
	.sets = (const char *const[]){"MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "LOCAL_RANK",
				      "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE", "ROLE_RANK",
				      "ROLE_NAME", "ROLE_WORLD_SIZE", "TORCHELASTIC_*", NULL},
};
