// SPDX-License-Identifier: Apache-2.0

/**
 * Grid Engine (SGE, UGE, Son of Grid Engine), jobs of a parallel environment. In the job script:
 *
 *     JOB_ID=99   SGE_TASK_ID=undefined (or a number in an array)   NHOSTS=2
 *     PE_HOSTFILE=/var/spool/gridengine/execd/n1/active_jobs/99.1/pe_hostfile
 *
 * The file has a line "HOST SLOTS QUEUE PROCESSORS" for each queue of a host, so a host may be
 * listed several times. JOB_ID alone is too common a name: SGE_ROOT and ARC must be set as well.
 *
 * mpirun starts its daemons on the other hosts with "qrsh -inherit -V", which passes the script's
 * environment on, except for JOB_SCRIPT=QRSH and its own NHOSTS=1. The file is in the spool folder
 * of the first host, which is often on a local disk.
 *
 * Reference: sge_pe(5); src/mca/ras/gridengine of PRRTE; seen in real jobs of 8.1.9.
 */

#include "source/batch.h"
#include "source/nodefile.h"

#include <errno.h>

#define FILE "PE_HOSTFILE"

static int gridengine_read(struct input *in, struct placement *out, struct err *err) {
	uint32_t nhosts = UNKNOWN;
	bool slave = str_is(str_of(env_get(in->env, "JOB_SCRIPT")), "QRSH");
	int r = nodefile_read(in, FILE, env_get(in->env, FILE), NODEFILE_COUNTS, out, err);
	r = r < 0 ? r : read_u32(in, "NHOSTS", &nhosts, err);
	if (r < 0) {
		return r;
	}
	if (!slave && nhosts != UNKNOWN && nhosts != out->hosts.n) {
		return err_set(err, EINVAL, "NHOSTS=%u, but " FILE " lists %u hosts" MANAGERS_COUNT, nhosts,
			       out->hosts.n);
	}
	batch_place(in, out, env_get(in->env, "JOB_ID"), env_get(in->env, "SGE_TASK_ID"));
	return 0;
}

const struct source source_gridengine = {
	.name = "gridengine",
	.about = "Grid Engine jobs of a parallel environment, and mpirun in them",
	.reads = READS(FILE, "JOB_ID", "NHOSTS", "JOB_SCRIPT", "SGE_TASK_ID"),
	.leaves = "JOB_ID alone: the name is too common; NSLOTS",
	.lacks = BATCH_LACKS,
	.row = "with=" FILE " with=JOB_ID with=SGE_ROOT with=ARC",
	.read = gridengine_read,
};
