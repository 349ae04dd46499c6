// SPDX-License-Identifier: Apache-2.0

/**
 * PyTorch jobs of Alibaba PAI (DLC), Volcano's pytorch plugin, Baidu AIHC and similar. The second
 * worker of three pods has
 *
 *     MASTER_ADDR=dlc1-master-0   MASTER_PORT=23456   WORLD_SIZE=3   RANK=2
 *     NPROC_PER_NODE=8            in most cases
 *
 * Here WORLD_SIZE and RANK count nodes. Everywhere else these variables count processes, and the
 * environment does not show the difference. The pod's own name does: it is "dlc1-worker-1" if RANK
 * is 2, and the master's name if RANK is 0. KubeDL, and Kubeflow's training operator up to 1.3, set
 * MASTER_ADDR=localhost in the master, and the master's name in the workers.
 *
 * Reference: "DLC environment variables" in PAI's documentation;
 * distributed-framework/pytorch/pytorch.go of Volcano; controllers/pytorch of KubeDL.
 */

#include "base/num.h"
#include "cluster/source.h"
#include "source/pods.h"

#define ADDR "MASTER_ADDR"
#define SIZE "WORLD_SIZE"
#define RANK "RANK"

static const char *pai_detect(const struct input *in) {
	const char *addr = env_value(in->env, ADDR);
	bool local = addr && strcmp(addr, "localhost") == 0;
	uint32_t rank, size;
	if (!addr || !(local || pod_is_first(str_of(addr), POD_MASTER)) ||
	    num_read_u32(str_of(env_value(in->env, RANK)), &rank) < 0 ||
	    num_read_u32(str_of(env_value(in->env, SIZE)), &size) < 0 || (local && rank)) {
		return NULL;
	}
	struct own_name own = input_own_name(in);
	struct str self = str_of(own.s);
	bool here = local ? pod_is_first(self, POD_MASTER) : rank == pod_rank(str_of(addr), self);
	return here ? RANK : NULL;
}

const struct source source_pai = {
	.name = "pai",
	.about = "PyTorch job of Alibaba PAI, KubeDL, Volcano's plugin, Baidu AIHC",
	.known_by = ADDR
	" of the form JOB-master-0 (localhost on the master itself), and a host name that matches " RANK,
	.leaves = SIZE " and " RANK ", unless the pod's own name confirms that they count nodes",
	.lacks = "the workers' names: pass --hosts if you need TF_CONFIG",
	.detect = pai_detect,
	.row = "nnodes=WORLD_SIZE node-rank=RANK master-addr=MASTER_ADDR nproc-per-node=NPROC_PER_NODE",
};
