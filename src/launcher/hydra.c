// SPDX-License-Identifier: Apache-2.0

/**
 * MPICH's Hydra and Intel MPI (mpiexec). Rank 3 of four on two nodes has
 *
 *     PMI_RANK=3   MPI_LOCALRANKID=1
 *     PMI_SIZE=4   MPI_LOCALNRANKS=2
 *     PMI_HOSTNAME=n2                         this process's host (MPICH from 4.3 on)
 *     MPIR_CVAR_CH3_INTERFACE_HOSTNAME=n2     the same (MPICH before)
 *
 * Others (Slurm's pmi2, Flux, PALS) also set PMI_RANK and PMI_SIZE. Only Hydra sets the local pair.
 * Hydra copies mpiexec's environment to all nodes, so HOSTNAME and SLURMD_NODENAME name mpiexec's
 * node.
 *
 * Reference: seen in real runs of MPICH 4.0.2 and 4.2.1; src/pm/hydra/proxy/pmip_cb.c of MPICH
 * (PMI_HOSTNAME: commit 4909555f).
 */

#include "cluster/launcher.h"

static bool hydra_detect(const struct input *in) {
	return env_value(in->env, "MPI_LOCALRANKID") && env_value(in->env, "MPI_LOCALNRANKS");
}

const struct launcher launcher_hydra = {
	.name = "hydra",
	.about = "MPICH and Intel MPI (mpiexec, Hydra)",
	.rank = "PMI_RANK",
	.size = "PMI_SIZE",
	.local_rank = "MPI_LOCALRANKID",
	.local_size = "MPI_LOCALNRANKS",
	.host = {"PMI_HOSTNAME", "MPIR_CVAR_CH3_INTERFACE_HOSTNAME"},
	.detect = hydra_detect,
	.copies_env = true,
};
