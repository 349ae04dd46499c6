// SPDX-License-Identifier: Apache-2.0

/**
 * Whatever launcher speaks PMI-1 and is none of the others:
 *
 *     PMI_RANK=1   PMI_SIZE=4   PMI_LOCAL_RANK, PMI_LOCAL_SIZE where it is Cray's
 *
 * With srun --mpi=pmi2 Slurm sets the first two itself, and PMI_JOBID=JOB.STEP: also in an interactive step, whose shell would
 * then look like a lone rank.
 *
 * Reference: src/pmi of MPICH; seen in real runs of Slurm 22.05.
 */

#include "cluster/source.h"

static bool pmi_detect(const struct input *in) {
	struct str job = str_of(env_value(in->env, "SLURM_JOB_ID"));
	struct str told = str_of(env_value(in->env, "PMI_JOBID"));
	return !(job.len && str_starts(told, job) && told.len > job.len && told.p[job.len] == '.');
}

const struct launcher launcher_pmi = {
	.name = "pmi",
	.about = "any other launcher that speaks PMI-1",
	.rank = "PMI_RANK",
	.size = "PMI_SIZE",
	.local_rank = "PMI_LOCAL_RANK",
	.local_size = "PMI_LOCAL_SIZE",
	.detect = pmi_detect,
};
