// SPDX-License-Identifier: Apache-2.0

/**
 * MPIJobs of Kubeflow, of its MPI operator (v2beta1), its training operator (v1) and its Trainer (v2). The pod that mpirun is started
 * in, the launcher, has one of
 *
 *     OMPI_MCA_orte_default_hostfile=/etc/mpi/hostfile    Open MPI: "job-worker-0.job.ns.svc slots=8" a line
 *     I_MPI_HYDRA_HOST_FILE, HYDRA_HOST_FILE              the same for Intel MPI and MPICH: "job-worker-0.job.ns.svc:8"
 *
 * and the workers nothing. So the launcher is an allocation; what mpirun passes on (-x MASTER_ADDR) reaches the ranks. Open MPI passes
 * its own variable on as well, to workers that have no such file: there, it tells nothing.
 *
 * Reference: pkg/controller/mpi_job_controller.go of the MPI operator 0.6.
 */

#include "cluster/source.h"
#include "source/nodefile.h"

/** Others set these variables, too, but no such path. */
#define FILE_PATH "/etc/mpi/hostfile"

static const char *mpijob_detect(const struct input *in) {
	static const char *const names[] = {"OMPI_MCA_orte_default_hostfile", "I_MPI_HYDRA_HOST_FILE",
					    "HYDRA_HOST_FILE"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *path = env_value(in->env, names[i]);
		if (path && strcmp(path, FILE_PATH) == 0) {
			return names[i];
		}
	}
	return NULL;
}

static int mpijob_read(struct input *in, struct placement *out, struct err *err) {
	if (in->launcher && !input_has_file(in, FILE_PATH)) {
		return 0;
	}
	int r = nodefile_read(in, mpijob_detect(in), FILE_PATH, NODEFILE_ANY, out, err);
	if (r < 0) {
		return r;
	}
	out->scope = SCOPE_ALLOCATION;
	out->node_rank = launcher_node_rank(in, &out->hosts);
	return 0;
}

const struct source source_mpijob = {
	.name = "mpijob",
	.about = "Kubeflow MPIJob, the launcher and mpirun in it",
	.known_by = "OMPI_MCA_orte_default_hostfile, I_MPI_HYDRA_HOST_FILE or HYDRA_HOST_FILE as " FILE_PATH,
	.reads = READS(FILE_PATH),
	.leaves = "K_MPI_JOB_ROLE",
	.lacks = "in the workers, all: pass MASTER_ADDR on by mpirun, or --master-addr",
	.detect = mpijob_detect,
	.read = mpijob_read,
};
