// SPDX-License-Identifier: Apache-2.0

/**
 * Trials of Determined. Its own launch layer asks its master for the rendezvous, and then sets
 *
 *     DET_CHIEF_IP=10.1.1.4   DET_SLOT_IDS=[0,1]
 *
 * for what it starts: the chief's address is all that can be told from there. The numbers of nodes and of this one stay with it.
 *
 * Reference: harness/determined/launch of Determined.
 */

#include "cluster/source.h"

#define CHIEF "DET_CHIEF_IP"

static const char *determined_detect(const struct input *in) {
	return env_value(in->env, CHIEF) ? CHIEF : NULL;
}

static int determined_read(struct input *in, struct placement *out, struct err *err) {
	(void)err;
	out->master_addr = str_of(env_get(in->env, CHIEF));
	out->master_addr_from = CHIEF;
	out->job_id = env_value(in->env, "DET_TRIAL_ID");
	return 0;
}

const struct source source_determined = {
	.name = "determined",
	.about = "Determined trial, below its launch layer",
	.known_by = CHIEF,
	.reads = READS(CHIEF, "DET_TRIAL_ID"),
	.lacks = "how many nodes there are, and which this is: pass --hosts and --node-rank, or --nnodes",
	.detect = determined_detect,
	.read = determined_read,
};
