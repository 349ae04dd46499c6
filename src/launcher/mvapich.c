// SPDX-License-Identifier: Apache-2.0

/**
 * MVAPICH 3 (mpirun_rsh; its mpiexec is Hydra and sets the same). Rank 0 of two on two nodes has
 *
 *     MVP_COMM_WORLD_RANK=0   MVP_COMM_WORLD_LOCAL_RANK=0
 *     MVP_COMM_WORLD_SIZE=2   MVP_COMM_WORLD_LOCAL_SIZE=1
 *
 * MVAPICH 4 has neither mpirun_rsh nor these variables: its mpiexec is Hydra of MPICH 4.3.
 *
 * Reference: src/pm/mpirun/mpispawn.c of MVAPICH 3.0b and 3.0rc.
 */

#include "cluster/launcher.h"

static bool mvapich_detect(const struct input *in) {
	// Hydra's, which is not believed, or it would have been found before.
	return !env_value(in->env, "MPI_LOCALRANKID");
}

const struct launcher launcher_mvapich = {
	.name = "mvapich",
	.about = "MVAPICH 3 (mpirun_rsh)",
	.rank = "MVP_COMM_WORLD_RANK",
	.size = "MVP_COMM_WORLD_SIZE",
	.local_rank = "MVP_COMM_WORLD_LOCAL_RANK",
	.local_size = "MVP_COMM_WORLD_LOCAL_SIZE",
	.detect = mvapich_detect,
};
