// SPDX-License-Identifier: Apache-2.0

/**
 * MPIJobs of Kubeflow: of its MPI operator (v2beta1), its training operator (v1) and its Trainer
 * (v2). The launcher, the pod that runs mpirun, has one of
 *
 *     OMPI_MCA_orte_default_hostfile=/etc/mpi/hostfile  Open MPI: "job-worker-0.job.svc slots=8"
 *     I_MPI_HYDRA_HOST_FILE, HYDRA_HOST_FILE            Intel MPI, MPICH: "job-worker-0.job.svc:8"
 *
 * The workers have no variable. So the launcher is an allocation, and the ranks get the variables
 * that mpirun passes on (-x MASTER_ADDR). Open MPI also passes its own variable on to the workers, which
 * do not have the file: there it is ignored.
 *
 * All pods have the job's key for ssh, by default in /root/.ssh (sshAuthMountPath).
 *
 * Reference: pkg/controller/mpi_job_controller.go of the MPI operator 0.6.
 */

#include "cluster/source.h"
#include "source/nodefile.h"

/** Other software also sets these variables, but not to this path. */
#define FILE_PATH "/etc/mpi/hostfile"
#define KEY	  "/root/.ssh/id_rsa"

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
	out->secret_file = KEY;
	if (in->found.launcher && !input_has_file(in, FILE_PATH)) {
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
	.about = "Kubeflow MPIJob: the launcher pod, and mpirun in it",
	.known_by = "OMPI_MCA_orte_default_hostfile, I_MPI_HYDRA_HOST_FILE or HYDRA_HOST_FILE with the "
		    "value " FILE_PATH,
	.reads = READS(FILE_PATH, KEY),
	.leaves = "K_MPI_JOB_ROLE",
	.lacks = "everything, in the workers: let mpirun pass MASTER_ADDR on, or pass --master-addr",
	.detect = mpijob_detect,
	.read = mpijob_read,
};
