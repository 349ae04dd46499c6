// SPDX-License-Identifier: Apache-2.0

/**
 * Steps of Metaflow that run on several nodes (@parallel). On Kubernetes, in a JobSet, worker 0 of
 * two has
 *
 *     MF_MASTER_ADDR=js-1a2b-control-0-0.js-1a2b.default.svc.cluster.local   MF_MASTER_PORT=3389
 *     MF_WORLD_SIZE=3   nodes: the control task, and the workers
 *     MF_WORKER_REPLICA_INDEX=0
 *
 * and the control task MF_CONTROL_INDEX=0, and is node 0. Each is a Job of its own, so that
 * JOB_COMPLETION_INDEX is 0 in all of them. Elsewhere, and for what a step itself starts, there are
 *
 *     MF_PARALLEL_MAIN_IP=10.0.0.1   MF_PARALLEL_NUM_NODES=3   MF_PARALLEL_NODE_INDEX=1
 *
 * Reference: metaflow/plugins/kubernetes/kubernetes.py, kubernetes_jobsets.py,
 * kubernetes_decorator.py, .../aws/batch/batch_decorator.py of Metaflow.
 */

#include "cluster/source.h"
#include "source/row.h"

#include <errno.h>

#define ADDR	"MF_MASTER_ADDR"
#define SIZE	"MF_WORLD_SIZE"
#define CONTROL "MF_CONTROL_INDEX"
#define WORKER	"MF_WORKER_REPLICA_INDEX"

static const struct source_row jobset_row = {
	.variables =
		{
			[ROW_MASTER_ADDR] = ADDR,
			[ROW_MASTER_PORT] = "MF_MASTER_PORT",
			[ROW_NNODES] = SIZE,
		},
	.known_by = ROW_MASTER_ADDR,
	.known_with = ROW_BIT(ROW_NNODES),
	.optional = ROW_BIT(ROW_MASTER_PORT),
};

static const struct source_row parallel_row = {
	.variables =
		{
			[ROW_MASTER_ADDR] = "MF_PARALLEL_MAIN_IP",
			[ROW_NNODES] = "MF_PARALLEL_NUM_NODES",
			[ROW_NODE_RANK] = "MF_PARALLEL_NODE_INDEX",
		},
	.known_by = ROW_MASTER_ADDR,
	.known_with = ROW_BIT(ROW_NNODES) | ROW_BIT(ROW_NODE_RANK),
};

static const char *metaflow_detect(const struct input *in) {
	const char *by = row_detect(in, &jobset_row);
	return by ? by : row_detect(in, &parallel_row);
}

static int metaflow_read(struct input *in, struct placement *out, struct err *err) {
	const char *by = row_detect(in, &jobset_row);
	if (!by) {
		return row_read(in, &parallel_row, parallel_row.variables[ROW_MASTER_ADDR], out, err);
	}
	int r = row_read(in, &jobset_row, by, out, err);
	if (r < 0) {
		return r;
	}
	if (env_value(in->env, CONTROL)) {
		out->node_rank_from = CONTROL;
		out->node_rank = 0;
		return 0;
	}
	uint32_t worker;
	out->node_rank_from = WORKER;
	r = need_u32(in, WORKER, ADDR, &worker, err);
	if (r == 0 && worker >= out->nnodes - 1) {
		return err_set(err, EINVAL, WORKER "=%u, but " SIZE "=%u: %u of these are workers", worker,
			       out->nnodes, out->nnodes - 1);
	}
	out->node_rank = r < 0 ? UNKNOWN : worker + 1;
	return r;
}

const struct source source_metaflow = {
	.name = "metaflow",
	.about = "Metaflow step on several nodes (@parallel)",
	.known_by = ADDR " and " SIZE "; or MF_PARALLEL_MAIN_IP, ..._NUM_NODES and ..._NODE_INDEX",
	.reads = READS(ADDR, "MF_MASTER_PORT", SIZE, CONTROL, WORKER, "MF_PARALLEL_MAIN_IP",
		       "MF_PARALLEL_NUM_NODES", "MF_PARALLEL_NODE_INDEX"),
	.leaves = "JOB_COMPLETION_INDEX, which is 0 on each node",
	.lacks = "the names of the nodes: --hosts tells them, for TF_CONFIG",
	.detect = metaflow_detect,
	.read = metaflow_read,
};
