// SPDX-License-Identifier: Apache-2.0

/**
 * MVAPICH2 (mpirun_rsh). Rank 0 of two on two nodes has
 *
 *     MV2_COMM_WORLD_RANK=0   MV2_COMM_WORLD_LOCAL_RANK=0
 *     MV2_COMM_WORLD_SIZE=2   MV2_COMM_WORLD_LOCAL_SIZE=1
 *
 * Reference: src/accelerate/utils/environment.py of Accelerate, which reads them.
 */

#include "cluster/launcher.h"

const struct launcher launcher_mvapich2 = {
	.name = "mvapich2",
	.about = "MVAPICH2 (mpirun_rsh)",
	.rank = "MV2_COMM_WORLD_RANK",
	.size = "MV2_COMM_WORLD_SIZE",
	.local_rank = "MV2_COMM_WORLD_LOCAL_RANK",
	.local_size = "MV2_COMM_WORLD_LOCAL_SIZE",
};
