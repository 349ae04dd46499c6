// SPDX-License-Identifier: Apache-2.0

/**
 * PRRTE without Open MPI (prterun, prun). Rank 3 of four on two nodes has
 *
 *     PRTE_LAUNCHED=1   PMIX_RANK=3   PMIX_NAMESPACE=prterun-n1-334505@1
 *     PMIX_HOSTNAME=n2                this process's host
 *
 * Only the PMIx server tells the number of ranks. In a Slurm job, the SLURM_* of each rank describe
 * the daemon that started it. Flux and others also set PMIX_RANK and PMIX_NAMESPACE, but not
 * PRTE_LAUNCHED; a Slurm step has no other namespace than Slurm's.
 *
 * Reference: seen in real runs of PRRTE 3.0.8; src/mca/schizo/prte/schizo_prte.c of PRRTE.
 */

#include "launcher/pmix.h"

static bool prrte_detect(const struct input *in) {
	bool step = env_value(in->env, "PMIX_NAMESPACE") && env_value(in->env, "SLURM_STEP_ID");
	return !pmix_is_slurms(in) && !env_value(in->env, "OMPI_COMM_WORLD_RANK") &&
	       (env_value(in->env, "PRTE_LAUNCHED") || step);
}

const struct launcher launcher_prrte = {
	.name = "prrte",
	.about = "PRRTE (prterun), which does not tell the number of ranks",
	.rank = "PMIX_RANK",
	.host = {"PMIX_HOSTNAME"},
	.detect = prrte_detect,
};
