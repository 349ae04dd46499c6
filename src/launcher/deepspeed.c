// SPDX-License-Identifier: Apache-2.0

/**
 * Processes that DeepSpeed's launcher started (deepspeed train.py). It sets, in rank 3 of four on
 * two nodes,
 *
 *     MASTER_ADDR=n1   MASTER_PORT=29500   RANK=3   WORLD_SIZE=4   LOCAL_RANK=1
 *     CROSS_RANK=1     CROSS_SIZE=2        LOCAL_SIZE=2       the node, the nodes, ranks on this node
 *
 * It sets no LOCAL_WORLD_SIZE. What its own launcher set, such as srun, is still there and describes
 * the launcher, not this rank.
 *
 * Reference: deepspeed/launcher/launch.py of DeepSpeed.
 */

#include "cluster/launcher.h"

static bool deepspeed_detect(const struct input *in) {
	return env_value(in->env, "CROSS_RANK") && env_value(in->env, "CROSS_SIZE") &&
	       env_value(in->env, "LOCAL_SIZE") && env_value(in->env, "LOCAL_RANK") &&
	       env_value(in->env, "MASTER_ADDR");
}

const struct launcher launcher_deepspeed = {
	.name = "deepspeed",
	.about = "DeepSpeed's child processes, which stay unchanged",
	.rank = "RANK",
	.size = "WORLD_SIZE",
	.local_rank = "LOCAL_RANK",
	.local_size = "LOCAL_SIZE",
	.recognised_by = "CROSS_SIZE",
	.detect = deepspeed_detect,
	.complete = true,
	.sets = (const char *const[]){"MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "LOCAL_RANK",
				      "LOCAL_SIZE", "CROSS_RANK", "CROSS_SIZE", NULL},
};
