// SPDX-License-Identifier: Apache-2.0

/**
 * IBM LoadLeveler. In a job of several tasks:
 *
 *     LOADL_HOSTFILE=/var/loadl/execute/fr1n01.123.0.hosts   a line for each task, with the name of its host
 *     LOADL_STEP_ID=fr1n01.123.0                             the job's step
 *
 * Reference: src/pm/hydra/lib/tools/bootstrap/external/ll_query_node_list.c of MPICH, which reads the file; IBM's manual "Using
 * and Administering" for the step's id.
 */

#include "cluster/batch.h"
#include "cluster/nodefile.h"

#define FILE "LOADL_HOSTFILE"
#define STEP "LOADL_STEP_ID"

static const char *loadleveler_detect(const struct input *in) {
	return env_value(in->env, FILE) ? FILE : NULL;
}

static int loadleveler_read(struct input *in, struct placement *out, struct err *err) {
	int r = nodefile_read(in, FILE, env_get(in->env, FILE), NODEFILE_NAMES, out, err);
	if (r < 0) {
		return r;
	}
	batch_place(in, out, env_value(in->env, STEP), NULL);
	return 0;
}

const struct source source_loadleveler = {
	.name = "loadleveler",
	.about = "LoadLeveler jobs: the script, and mpirun or mpiexec in it",
	.known_by = FILE,
	.reads = READS(FILE, STEP),
	.lacks = BATCH_LACKS,
	.detect = loadleveler_detect,
	.read = loadleveler_read,
};
