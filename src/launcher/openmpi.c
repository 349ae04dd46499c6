// SPDX-License-Identifier: Apache-2.0

/**
 * Open MPI 4 and 5 (mpirun). Rank 3 of four on two nodes has
 *
 *     OMPI_COMM_WORLD_RANK=3   OMPI_COMM_WORLD_LOCAL_RANK=1
 *     OMPI_COMM_WORLD_SIZE=4   OMPI_COMM_WORLD_LOCAL_SIZE=2
 *     PMIX_HOSTNAME=n2         this process's host
 *
 * There is no list of hosts. Three variables look useful but are not used.
 * OMPI_COMM_WORLD_NODE_RANK is a rank on the node, not the node's rank. OMPI_UNIVERSE_SIZE counts
 * slots. The address in OMPI_MCA_orte_hnp_uri is mpirun's own, and rank 0 may run elsewhere.
 *
 * Reference: seen in real runs of Open MPI 4.1.4; src/mca/pmdl/ompi/pmdl_ompi.c of OpenPMIx.
 */

#include "launcher/pmix.h"

static bool openmpi_detect(const struct input *in) {
	return !pmix_is_slurms(in);
}

const struct launcher launcher_openmpi = {
	.name = "openmpi",
	.about = "Open MPI (mpirun)",
	.rank = "OMPI_COMM_WORLD_RANK",
	.size = "OMPI_COMM_WORLD_SIZE",
	.local_rank = "OMPI_COMM_WORLD_LOCAL_RANK",
	.local_size = "OMPI_COMM_WORLD_LOCAL_SIZE",
	.host = {"PMIX_HOSTNAME"},
	.detect = openmpi_detect,
};
