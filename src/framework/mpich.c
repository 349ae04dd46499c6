// SPDX-License-Identifier: Apache-2.0

/**
 * MPICH's and Intel MPI's mpiexec without -hosts: Hydra's host file, with lines "host:4".
 *
 * Reference: src/pm/hydra/mpiexec/utils.c of MPICH; Intel MPI's manual, "Hydra Environment
 * Variables".
 */

#include "framework/framework.h"

static const char *const names[] = {"HYDRA_HOST_FILE", "I_MPI_HYDRA_HOST_FILE", NULL};

static void mpich_derive(struct derivation *d) {
	derive_hostfile_path(d, names, HOSTFILE_COLON);
}

const struct framework framework_mpich = {
	.name = "mpich",
	.about = "MPICH's and Intel MPI's mpiexec: a host file (--hostfile-output)",
	.sets = "HYDRA_HOST_FILE I_MPI_HYDRA_HOST_FILE",
	.hostfile = true,
	.derive = mpich_derive,
};
