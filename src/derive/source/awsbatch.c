// SPDX-License-Identifier: Apache-2.0

/**
 * Multi-node parallel jobs of AWS Batch. On the second of four nodes:
 *
 *     AWS_BATCH_JOB_NUM_NODES=4
 *     AWS_BATCH_JOB_NODE_INDEX=1
 *     AWS_BATCH_JOB_MAIN_NODE_INDEX=0                            may differ from 0
 *     AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS=10.0.0.11     not set on the main node itself
 *
 * There is no list of hosts. The main node does not get the address by which the other nodes reach
 * it. Its own processes use 127.0.0.1, and a server there listens on all addresses. The jobs of an
 * array are independent, so AWS_BATCH_JOB_ARRAY_* does not describe a cluster.
 *
 * Reference: "Environment variables" of multi-node parallel jobs in AWS Batch's documentation;
 * aws_batch_scheduler.py of TorchX.
 */

#include "cluster/source.h"
#include "source/row.h"

#include <errno.h>

#define NUM  "AWS_BATCH_JOB_NUM_NODES"
#define IDX  "AWS_BATCH_JOB_NODE_INDEX"
#define MAIN "AWS_BATCH_JOB_MAIN_NODE_INDEX"
#define ADDR "AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS"
#define ROW  "nnodes!=" NUM " node-rank=" IDX " job=AWS_BATCH_JOB_ID"

static int awsbatch_read(struct input *in, struct placement *out, struct err *err) {
	int r = row_read(in, ROW, NUM, out, err);
	r = r < 0 ? r : need_u32(in, MAIN, NUM, &out->master, err);
	if (r < 0) {
		return r;
	}
	if (out->master >= out->nnodes) {
		return err_set(err, EINVAL, MAIN "=%u is not below " NUM "=%u" MANAGERS_COUNT, out->master,
			       out->nnodes);
	}
	out->master_addr_from = ADDR;
	out->master_addr = str_of(env_value(in->env, ADDR));
	// A launcher runs ranks on other nodes, too, and mpiexec copies this node's variables to them.
	if (out->master_addr.len == 0 && out->node_rank == out->master && !in->found.launcher) {
		out->master_addr_from = "this is the main node; AWS Batch gives the other nodes its address";
		out->master_addr = STR("127.0.0.1");
	}
	return 0;
}

const struct source source_awsbatch = {
	.name = "awsbatch",
	.about = "AWS Batch, multi-node parallel job",
	.reads = READS(NUM, IDX, MAIN, ADDR, "AWS_BATCH_JOB_ID"),
	.leaves = "AWS_BATCH_JOB_ARRAY_*: the jobs of an array are independent",
	.lacks = "the nodes' names, and on the main node its own address (127.0.0.1 is used there)",
	.row = ROW,
	.read = awsbatch_read,
};
