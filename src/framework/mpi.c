// SPDX-License-Identifier: Apache-2.0

/**
 * Open MPI's mpirun without -H: its default host file. Version 5 uses PRRTE's prterun, which has
 * its own parameters.
 *
 * Reference: orte_hosts(7) of Open MPI 4; src/runtime/prte_mca_params.c of PRRTE.
 */

#include "framework/framework.h"

static const char *const names[] = {"OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile", NULL};

static void mpi_derive(struct derivation *d) {
	derive_hostfile_path(d, names, HOSTFILE_SLOTS);
}

const struct framework framework_mpi = {
	.name = "mpi",
	.about = "Open MPI's mpirun: a host file (--hostfile-output)",
	.sets = "OMPI_MCA_orte_default_hostfile PRTE_MCA_prte_default_hostfile",
	.hostfile = true,
	.derive = mpi_derive,
};
