// SPDX-License-Identifier: Apache-2.0

/**
 * Flux, as the manager of a job (for the launcher see launcher/flux.c). Rank 5 of eight on two
 * nodes has
 *
 *     FLUX_JOB_ID=f2e73NP (with a letter that is not ASCII)   FLUX_JOB_NNODES=2   FLUX_JOB_SIZE=8
 *     FLUX_TASK_RANK=5                                        FLUX_TASK_LOCAL_ID=1
 *
 * There is no list of hosts, and no variable shows which tasks share a node: the user gives the master.
 * FLUX_URI alone is not a job, but a shell that can reach a broker.
 *
 * Reference: doc/man7/flux-environment.rst of flux-core.
 */

#include "cluster/source.h"

#include <errno.h>

#define NNODES "FLUX_JOB_NNODES"
#define SIZE   "FLUX_JOB_SIZE"
#define RANK   "FLUX_TASK_RANK"

static int flux_read(struct input *in, struct placement *out, struct err *err) {
	out->nnodes_from = NNODES;
	out->shared_nodes = true;
	out->job_id = env_get(in->env, "FLUX_JOB_ID");
	int r = read_u32(in, NNODES, &out->nnodes, err);
	if (r < 0 || !launched_by(in, "flux")) {
		return r;
	}
	const struct task *task = &in->found.task;
	if (out->nnodes == 0 || out->nnodes > task->world_size) {
		return err_set(err, EINVAL,
			       NNODES "=%u, but " SIZE "=%u: each node has at least one task" ONE_IS_STALE,
			       out->nnodes, task->world_size);
	}
	if (out->nnodes == 1) {
		// All tasks are here.
		uint32_t *tasks = arena_alloc(in->arena, sizeof(*tasks));
		*tasks = task->world_size;
		out->hosts_from = NNODES;
		hosts_single(in->arena, STR("127.0.0.1"), &out->hosts);
		out->tasks_per_node = tasks;
		out->layout = LAYOUT_BLOCK;
		out->node_rank = 0;
	} else if (out->nnodes == task->world_size) {
		// One task per node: so the task's rank is also the node rank.
		out->node_rank = task->rank;
		out->node_rank_from = RANK;
	}
	return 0;
}

const struct source source_flux = {
	.name = "flux",
	.about = "Flux jobs: the numbers of tasks and nodes",
	.reads = READS("FLUX_JOB_ID", NNODES, SIZE, RANK),
	.leaves = "FLUX_URI: it names a broker, not a job",
	.lacks = "the hosts: pass --master-addr (the host of rank 0) or --hosts",
	.row = "with=FLUX_JOB_ID with=" NNODES " with=" SIZE " with=" RANK,
	.read = flux_read,
};
