// SPDX-License-Identifier: Apache-2.0

/**
 * CraneSched. A script of cbatch runs on the first node, and each task of crun has
 *
 *     CRANE_JOB_ID=12   CRANE_JOB_NODELIST=cn1;cn2   CRANE_PROCID=3   CRANE_NTASKS=4
 *
 * (launcher/rows.c). A site may configure it to set some of Slurm's names, too, but not SLURM_STEP_ID.
 *
 * Reference: src/Craned/Core/JobManager.cpp of CraneSched (f09bacd4, 2026-07).
 */

#include "cluster/source.h"
#include "source/batch.h"
#include "source/row.h"

#define RANK "CRANE_PROCID"
#define SIZE "CRANE_NTASKS"
#define ROW  "hosts[;]!=CRANE_JOB_NODELIST job!=CRANE_JOB_ID batch"

static int crane_read(struct input *in, struct placement *out, struct err *err) {
	uint32_t tasks = 1;
	int r = read_u32(in, SIZE, &tasks, err);
	r = r < 0 ? r : row_read(in, ROW, "CRANE_JOB_NODELIST", out, err);
	if (r == 0 && !in->found.launcher && !in->scope.value && tasks > 1 && env_value(in->env, RANK)) {
		notes_add(in->notes,
			  RANK "=0 is not used as a rank: "
			       "a cbatch script has it, too, and so have all tasks of a crun in a script; "
			       "use crun --mpi=pmix (the script has to unset " RANK " before), "
			       "or pass --scope=allocation, "
			       "or --scope=node if distinit runs once on each node");
	}
	return r;
}

const struct source source_crane = {
	.name = "crane",
	.about = "CraneSched jobs: the script, crun, and mpirun in them",
	.reads = READS("CRANE_JOB_NODELIST", "CRANE_JOB_ID", RANK, SIZE),
	.leaves = "CRANE_JOB_NUM_NODES; SLURM_*, which a site may set as well",
	.lacks = "the rank, where " RANK " is 0: pass --scope, or use crun --mpi=pmix",
	.row = ROW,
	.read = crane_read,
};
