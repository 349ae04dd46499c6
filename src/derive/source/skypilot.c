// SPDX-License-Identifier: Apache-2.0

/**
 * SkyPilot tasks, on any cloud. The second node of two:
 *
 *     SKYPILOT_NODE_IPS=10.0.0.1        all nodes, one per line, in rank order, not sorted
 *     10.0.0.2
 *     SKYPILOT_NODE_RANK=1              this node
 *     SKYPILOT_NUM_NODES=2
 *     SKYPILOT_NUM_GPUS_PER_NODE=8      0 without GPUs, or a fraction
 *
 * On Slurm, a task of fewer nodes than the cluster is a step on some of the job's nodes. There,
 * SKYPILOT_NODE_IPS has all nodes of the job, and the others describe the step. Slurm names its nodes.
 *
 * Setup commands of a task have SKYPILOT_SETUP_* instead: they run outside the job.
 *
 * Reference: docs/source/running-jobs/environment-variables.rst, distributed-jobs.rst,
 * sky/skylet/executor/slurm.py of SkyPilot.
 */

#include "base/num.h"
#include "cluster/hostlist.h"
#include "source/row.h"
#include "source/slurm.h"

#define IPS  "SKYPILOT_NODE_IPS"
#define SIZE "SKYPILOT_NUM_NODES"
#define RANK "SKYPILOT_NODE_RANK"
#define GPUS "SKYPILOT_NUM_GPUS_PER_NODE"
#define JOB  "SKYPILOT_TASK_ID"
#define STEP "SLURM_STEP_NODELIST"

#define ROW "hosts[\\n]!=" IPS " nnodes=" SIZE " node-rank=" RANK " nproc-per-node=" GPUS " job=" JOB

static uint32_t count_lines(struct str text) {
	uint32_t n = 0;
	struct str line;
	while (str_cut(&text, '\n', &line)) {
		n += line.len > 0;
	}
	return n;
}

/** Whether the task is a step of Slurm, and SKYPILOT_NODE_IPS lists more nodes than the task has. */
static bool has_part_of_job(const struct input *in) {
	uint32_t nnodes;
	return slurm_in_step(in->env) && num_read_u32(str_of(env_value(in->env, SIZE)), &nnodes) == 0 &&
	       nnodes < count_lines(str_of(env_value(in->env, IPS)));
}

/** Read the task's nodes from the step. */
static int read_step(struct input *in, struct placement *out, struct err *err) {
	uint32_t nnodes = 0;
	out->hosts_from = STEP;
	out->node_rank_from = RANK;
	int r = hostlist_expand(in->arena, STEP, str_of(env_value(in->env, STEP)), &out->hosts, err);
	r = r < 0 ? r : need_nnodes(in, SIZE, IPS, &nnodes, err);
	r = r < 0 ? r : check_count(SIZE, nnodes, out, err);
	r = r < 0 ? r : need_u32(in, RANK, IPS, &out->node_rank, err);
	read_nproc(in, GPUS, out);
	out->job_id = env_value(in->env, JOB);
	return r;
}

static int skypilot_read(struct input *in, struct placement *out, struct err *err) {
	return has_part_of_job(in) ? read_step(in, out, err) : row_read(in, ROW, IPS, out, err);
}

const struct source source_skypilot = {
	.name = "skypilot",
	.about = "SkyPilot task, on any cloud, Kubernetes or Slurm",
	.known_by = IPS,
	.reads = READS(IPS, SIZE, RANK, GPUS, JOB, STEP),
	.leaves = "SKYPILOT_SETUP_*: setup commands run outside the job",
	.row = ROW,
	.read = skypilot_read,
};
