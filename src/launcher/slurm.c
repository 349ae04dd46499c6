// SPDX-License-Identifier: Apache-2.0

/**
 * Slurm's srun, as the launcher of a task. It tells rank 3 of six:
 *
 *     SLURM_PROCID=3   SLURM_STEP_NUM_TASKS=6   SLURM_LOCALID=1
 *
 * Only in a real step: a batch script has SLURM_PROCID=0, too, and is no rank. The source "slurm" knows a real step.
 * Under pyxis the ENTRYPOINT runs once per node, in a step but without SLURM_PROCID: that is no task either.
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
	.recognised_by = "SLURM_STEP_ID",
	.as_source = "slurm",
	.manager = "slurm",
};
