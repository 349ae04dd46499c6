// SPDX-License-Identifier: Apache-2.0

/**
 * Any other launcher that uses PMI-1:
 *
 *     PMI_RANK=1   PMI_SIZE=4   PMI_LOCAL_RANK, PMI_LOCAL_SIZE (Cray only)
 *
 * With srun --mpi=pmi2, Slurm itself sets the first two, and PMI_JOBID=JOB.STEP. If these are set
 * but srun is not the launcher, they have leaked into a batch script that was submitted in such a
 * step.
 *
 * Reference: src/pmi of MPICH; seen in real runs of Slurm 22.05.
 */

#include "cluster/launcher.h"

/** Whether @text is two numbers joined by a dot. */
static bool is_step(struct str text) {
	size_t digits = 0, dots = 0;
	for (size_t i = 0; i < text.len; i++) {
		digits += text.p[i] >= '0' && text.p[i] <= '9';
		dots += text.p[i] == '.';
	}
	return dots == 1 && digits + dots == text.len;
}

static bool pmi_detect(const struct input *in) {
	// Hydra's, which is not believed, or it would have been found before.
	bool hydras = env_value(in->env, "MPI_LOCALRANKID") && env_value(in->env, "MPI_LOCALNRANKS");
	return !hydras &&
	       (!env_value(in->env, "SLURM_JOB_ID") || !is_step(str_of(env_value(in->env, "PMI_JOBID"))));
}

const struct launcher launcher_pmi = {
	.name = "pmi",
	.about = "any other launcher that uses PMI-1",
	.rank = "PMI_RANK",
	.size = "PMI_SIZE",
	.local_rank = "PMI_LOCAL_RANK",
	.local_size = "PMI_LOCAL_SIZE",
	.detect = pmi_detect,
};
