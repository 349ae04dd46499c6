// SPDX-License-Identifier: Apache-2.0

/**
 * Slurm's srun as the launcher of this process. It tells every task, as rank 3 of six on three nodes:
 *
 *     SLURM_STEP_ID=0          SLURM_PROCID=3
 *     SLURM_STEP_NUM_TASKS=6   SLURM_LOCALID=1
 *
 * A batch script has SLURM_PROCID=0 and SLURM_NTASKS=6 as well while being none of the six: only a real step counts. Under
 * pyxis the ENTRYPOINT runs once per node, in a step but without SLURM_PROCID: that is no task either.
 *
 * Reference: src/common/env.c of Slurm; seen in real runs of 22.05; pyxis_slurmstepd.c of pyxis.
 */

#include "cluster/slurm.h"

#include "base/num.h"

/** Above this stand the ids of batch scripts, interactive and extern steps. */
#define REAL_STEP_MAX 0xfffffff0u

bool slurm_in_step(const struct env *env) {
	uint64_t id;
	return num_read(str_of(env_get(env, "SLURM_STEP_ID")), REAL_STEP_MAX, &id) == 0 &&
	       env_value(env, "SLURM_STEP_NODELIST");
}

static bool slurm_detect_task(const struct input *in) {
	return slurm_in_step(in->env);
}

const struct launcher launcher_slurm = {
	.name = "slurm",
	.about = "Slurm's srun",
	.rank = "SLURM_PROCID",
	.size = "SLURM_STEP_NUM_TASKS",
	.local_rank = "SLURM_LOCALID",
	.recognised_by = "SLURM_STEP_ID",
	.detect = slurm_detect_task,
	.manager = "slurm",
};
