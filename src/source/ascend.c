// SPDX-License-Identifier: Apache-2.0

/**
 * PyTorch jobs of the Ascend operator (MindX, MindCluster). The second pod of two, with eight NPUs
 * in each, has
 *
 *     MASTER_ADDR=10.244.3.7   MASTER_PORT=2222
 *     WORLD_SIZE=16   LOCAL_WORLD_SIZE=8          NPUs: of the job, and of this pod
 *     RANK=1                                      the pod
 *     LOCAL_RANK=0,1,2,3,4,5,6,7                  a list, which nobody else makes of it
 *
 * With one NPU in a pod, LOCAL_RANK is 0, and the rest looks as everybody's ranks do: that is left
 * alone. There, RANK and WORLD_SIZE are right as they are.
 *
 * Reference: component/ascend-operator/pkg/controllers/v1/env.go of MindCluster, setPytorchEnv().
 */

#include "base/num.h"
#include "cluster/source.h"
#include "source/row.h"

#include <errno.h>

#define LOCAL "LOCAL_RANK"
#define SIZE  "WORLD_SIZE"
#define EACH  "LOCAL_WORLD_SIZE"
#define RANK  "RANK"

static const struct source_row ascend_row = {
	.variables =
		{
			[ROW_MASTER_ADDR] = "MASTER_ADDR",
			[ROW_MASTER_PORT] = "MASTER_PORT",
			[ROW_NODE_RANK] = RANK,
			[ROW_NPROC_PER_NODE] = EACH,
		},
	.known_by = ROW_MASTER_ADDR,
	.known_with = ROW_BIT(ROW_NODE_RANK) | ROW_BIT(ROW_NPROC_PER_NODE),
	.optional = ROW_BIT(ROW_MASTER_PORT),
};

static const char *ascend_detect(const struct input *in) {
	const char *local = env_value(in->env, LOCAL);
	return local && strncmp(local, "0,1", 3) == 0 && env_value(in->env, SIZE) &&
			       row_detect(in, &ascend_row)
		       ? LOCAL
		       : NULL;
}

static int ascend_read(struct input *in, struct placement *out, struct err *err) {
	uint32_t size = 0, each = 0;
	int r = need_u32(in, SIZE, LOCAL, &size, err);
	r = r < 0 ? r : need_u32(in, EACH, LOCAL, &each, err);
	if (r == 0 && (each == 0 || size == 0 || size % each)) {
		return err_set(err, EINVAL, SIZE "=%u is not a multiple of " EACH "=%u", size, each);
	}
	r = r < 0 ? r : row_read(in, &ascend_row, LOCAL, out, err);
	if (r == 0) {
		out->nnodes = size / each;
		out->nnodes_from = SIZE;
	}
	return r;
}

const struct source source_ascend = {
	.name = "ascend",
	.about = "PyTorch job of the Ascend operator (MindX)",
	.known_by = LOCAL " that is a list (0,1,...), with MASTER_ADDR, " SIZE ", " EACH " and " RANK,
	.reads = READS(LOCAL, SIZE, EACH, RANK, "MASTER_ADDR", "MASTER_PORT"),
	.leaves = LOCAL "=0, of a pod with one NPU: nothing tells it from a rank's",
	.lacks = "the names of the nodes: --hosts tells them, for TF_CONFIG",
	.detect = ascend_detect,
	.read = ascend_read,
};
