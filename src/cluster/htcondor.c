// SPDX-License-Identifier: Apache-2.0

/**
 * HTCondor's parallel universe. Each machine of a job of four runs the same program, the second one with
 *
 *     _CONDOR_PROCNO=1   _CONDOR_NPROCS=4
 *
 * and nothing that names the others: the user tells the master (MASTER_ADDR or --master-addr), which has to be the
 * machine of number 0.
 *
 * Reference: "Parallel Applications" of HTCondor's manual.
 */

#include "cluster/source.h"

#define INDEX "_CONDOR_PROCNO"
#define SIZE  "_CONDOR_NPROCS"

static const char *htcondor_detect(const struct input *in) {
	return env_value(in->env, INDEX) && env_value(in->env, SIZE) ? INDEX : NULL;
}

static int htcondor_read(struct input *in, struct placement *out, struct err *err) {
	out->nnodes_from = SIZE;
	out->node_rank_from = INDEX;
	int r = read_u32(in, SIZE, &out->nnodes, err);
	return r < 0 ? r : read_u32(in, INDEX, &out->node_rank, err);
}

const struct source source_htcondor = {
	.name = "htcondor",
	.about = "HTCondor's parallel universe: an index and a size",
	.known_by = INDEX " and " SIZE,
	.reads = READS(INDEX, SIZE),
	.lacks = "the hosts: pass --master-addr, the machine of number 0, or --hosts",
	.detect = htcondor_detect,
	.read = htcondor_read,
};
