// SPDX-License-Identifier: Apache-2.0

/**
 * Slurm's srun, as the launcher of a task. Rank 3 of six has
 *
 *     SLURM_PROCID=3   SLURM_STEP_NUM_TASKS=6   SLURM_LOCALID=1   SLURM_GTIDS=2,3
 *
 * This counts only in a real step: a batch script also has SLURM_PROCID=0, but is not a rank. The
 * source "slurm" recognises a real step. Under pyxis, the ENTRYPOINT runs once per node, in a step
 * but without SLURM_PROCID: that is not a task either.
 *
 * Reference: src/common/env.c of Slurm; seen in real runs of 22.05; pyxis_slurmstepd.c of pyxis.
 */

#include "cluster/launcher.h"

const struct launcher launcher_slurm = {
	.name = "slurm",
	.about = "Slurm's srun",
	.rank = "SLURM_PROCID",
	.size = "SLURM_STEP_NUM_TASKS",
	.local_rank = "SLURM_LOCALID",
	.ranks_here = "SLURM_GTIDS",
	.recognised_by = "SLURM_STEP_ID",
	.as_source = "slurm",
	.manager = "slurm",
};
