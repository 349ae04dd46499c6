// SPDX-License-Identifier: Apache-2.0

/**
 * PALS, the launcher of HPE's Cray machines (mpiexec, aprun), mostly in PBS. Rank 5 of eight has
 *
 *     PALS_RANKID=5   PALS_LOCAL_RANKID=1   PALS_NODEID=1    this node's index
 *     PMI_SIZE=8      PALS_LOCAL_SIZE=4     PALS_APID=3d3a5b3e-...
 *
 * Slurm's plugin mpi/cray_shasta sets the same variables for its own tasks, with
 * PALS_APID=JOB.STEP: there, srun is the launcher.
 *
 * Reference: issues 79 of flux-coral2 and 3825 of flux-core;
 * src/plugins/mpi/cray_shasta/mpi_cray_shasta.c of Slurm.
 */

#include "cluster/launcher.h"

/** Whether @text is "@job.@step". */
static bool names_step(const char *text, struct str job, struct str step) {
	struct str apid = str_of(text);
	return job.len && step.len && apid.len == job.len + 1 + step.len && str_starts(apid, job) &&
	       apid.p[job.len] == '.' && str_eq(str_from(apid, job.len + 1), step);
}

static bool pals_detect(const struct input *in) {
	return !names_step(env_get(in->env, "PALS_APID"), str_of(env_get(in->env, "SLURM_JOB_ID")),
			   str_of(env_get(in->env, "SLURM_STEP_ID")));
}

const struct launcher launcher_pals = {
	.name = "pals",
	.about = "PALS (mpiexec of HPE Cray)",
	.rank = "PALS_RANKID",
	.size = "PMI_SIZE",
	.local_rank = "PALS_LOCAL_RANKID",
	.local_size = "PALS_LOCAL_SIZE",
	.node = "PALS_NODEID",
	.detect = pals_detect,
};
