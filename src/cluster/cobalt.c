// SPDX-License-Identifier: Apache-2.0

/**
 * Cobalt, the scheduler of Argonne's machines. In a job script:
 *
 *     COBALT_JOBID=123456   COBALT_NODEFILE=/var/tmp/cobalt.123456    a host a line
 *
 * COBALT_PARTNAME and COBALT_PARTSIZE describe a partition, which need not be the job's nodes.
 *
 * Reference: src/mca/ras/pbs of PRRTE, src/pm/hydra/lib/tools/bootstrap/external/cobalt_query_node_list.c of MPICH, which read
 * them.
 */

#include "cluster/batch.h"
#include "cluster/nodefile.h"

#define JOB  "COBALT_JOBID"
#define FILE "COBALT_NODEFILE"

static const char *cobalt_detect(const struct input *in) {
	return env_value(in->env, JOB) && env_value(in->env, FILE) ? JOB : NULL;
}

static int cobalt_read(struct input *in, struct placement *out, struct err *err) {
	int r = nodefile_read(in, FILE, env_get(in->env, FILE), NODEFILE_NAMES, out, err);
	if (r < 0) {
		return r;
	}
	out->slots = NULL; // a node stands there once, whatever fits on it
	batch_place(in, out, env_get(in->env, JOB), NULL);
	return 0;
}

const struct source source_cobalt = {
	.name = "cobalt",
	.about = "Cobalt jobs: the script, and mpirun or mpiexec in it",
	.known_by = JOB " and " FILE,
	.reads = READS(JOB, FILE),
	.leaves = "COBALT_PARTNAME, COBALT_PARTSIZE: of a partition, which need not be the job",
	.lacks = BATCH_LACKS,
	.detect = cobalt_detect,
	.read = cobalt_read,
};
