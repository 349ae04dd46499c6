// SPDX-License-Identifier: Apache-2.0

/**
 * Workloads of xpk on GKE, each a JobSet. With GPUs, the second of two nodes has
 *
 *     JOBSET_NAME=llama   REPLICATED_JOB_NAME=slice-job   NNODES=2   NODE_RANK=1   GPUS_PER_NODE=8
 *     JAX_COORDINATOR_ADDRESS=llama-slice-job-0-0.llama   JAX_COORDINATOR_PORT=6002
 *
 * With CPUs, a workload may have several slices, which are jobs that count from 0 each. The first
 * VM of the second slice of two, with two VMs each, has
 *
 *     REPLICATED_JOB_NAME=slice-job   JOB_INDEX=1   JOB_COMPLETION_INDEX=0
 *     PROCESSES_IN_JOB=2              JAX_PROCESS_COUNT=4
 *     JAX_COORDINATOR_ADDRESS=llama-slice-job-0-0.llama
 *
 * xpk 1.9 sets no JOBSET_NAME there, and Kubernetes leaves "$(JOBSET_NAME)-slice-job-..." as it is:
 * then the nodes have no names. Names like NNODES are common, so all of them must be set. The
 * source tpu recognises TPUs.
 *
 * Reference: src/xpk/core/docker_resources.py, src/xpk/commands/workload.py of xpk 1.9.0;
 * initialize_jax_for_cpu() in max_utils.py of MaxText, which reads them.
 */

#include "base/num.h"
#include "cluster/source.h"
#include "source/pods.h"
#include "source/row.h"

#include <errno.h>

#define COORDINATOR "JAX_COORDINATOR_ADDRESS"
#define GROUP	    "REPLICATED_JOB_NAME"
#define SLICE	    "JOB_INDEX"
#define INDEX	    "JOB_COMPLETION_INDEX"
#define IN_SLICE    "PROCESSES_IN_JOB"
#define SIZE	    "JAX_PROCESS_COUNT"

/** The row by which it is recognised. */
#define CPUS "nnodes#=" SIZE " with=" COORDINATOR ":*-{" GROUP "}-0-0.* node-rank#=" INDEX " with=" GROUP

const struct source source_xpk = {
	.name = "xpk",
	.about = "xpk workload on GKE, with GPUs",
	.row = "with=JOBSET_NAME with=" COORDINATOR ":{JOBSET_NAME}-{" GROUP "}-0-0.{JOBSET_NAME} "
	       "nnodes#=NNODES node-rank#=NODE_RANK hosts={" COORDINATOR "#i} "
	       "master-port?=JAX_COORDINATOR_PORT nproc-per-node=GPUS_PER_NODE job=JOBSET_NAME",
};

static const char *cpus_detect(const struct input *in) {
	const char *by = row_detect(in, CPUS);
	return by && env_value(in->env, SLICE) && env_value(in->env, IN_SLICE) ? by : NULL;
}

/** Append the names of @n nodes, @in_slice in each slice, as the coordinator is named. */
static void put_names(struct buf *out, struct pod_name first, uint32_t n, uint32_t in_slice) {
	// The prefix ends with the number of the first slice: "-0-".
	struct str job = {first.prefix.p, first.prefix.len - 2};
	for (uint32_t i = 0; i < n; i++) {
		buf_put(out, job);
		buf_putu(out, i / in_slice);
		buf_putc(out, '-');
		buf_putu(out, i % in_slice);
		buf_put(out, first.suffix);
		buf_putc(out, ',');
	}
}

/** Read the variables that number this node, and the number of nodes, into @out. */
static int read_numbers(struct input *in, struct placement *out, uint32_t *in_slice, struct err *err) {
	uint32_t slice, index;
	int r = need_nnodes(in, SIZE, COORDINATOR, &out->nnodes, err);
	r = r < 0 ? r : need_nnodes(in, IN_SLICE, COORDINATOR, in_slice, err);
	r = r < 0 ? r : need_u32(in, SLICE, COORDINATOR, &slice, err);
	r = r < 0 ? r : need_u32(in, INDEX, COORDINATOR, &index, err);
	if (r < 0) {
		return r;
	}
	if (out->nnodes % *in_slice) {
		return err_set(err, EINVAL, SIZE "=%u is not a multiple of " IN_SLICE "=%u" MANAGERS_COUNT,
			       out->nnodes, *in_slice);
	}
	r = check_below(INDEX, index, IN_SLICE, *in_slice, err);
	if (r == 0 && slice >= out->nnodes / *in_slice) {
		return err_set(err, EINVAL,
			       SLICE "=%u, but " SIZE "=%u is %u times " IN_SLICE "=%u" MANAGERS_COUNT, slice,
			       out->nnodes, out->nnodes / *in_slice, *in_slice);
	}
	out->node_rank = slice * *in_slice + index;
	out->nnodes_from = SIZE;
	out->node_rank_from = SLICE;
	return r;
}

static int cpus_read(struct input *in, struct placement *out, struct err *err) {
	struct str coordinator = str_of(env_value(in->env, COORDINATOR));
	struct pod_name first;
	uint32_t in_slice = 0;
	int r = read_numbers(in, out, &in_slice, err);
	if (r < 0 || !host_name_is_fine(coordinator) || !pod_read(coordinator, &first)) {
		return r;
	}
	struct buf names = BUF(in->arena);
	put_names(&names, first, out->nnodes, in_slice);
	out->nnodes = UNKNOWN; // it follows from the hosts
	return place_hosts(in, COORDINATOR, buf_text(&names), ',', out, err);
}

const struct source source_xpk_cpus = {
	.name = "xpk",
	.about = "xpk workload on GKE, with CPUs",
	.known_by = SIZE ", " INDEX " (numbers), " SLICE ", " IN_SLICE ", " GROUP " and " COORDINATOR
			 " of the form *-GROUP-0-0.*",
	.reads = READS(SIZE, INDEX, SLICE, IN_SLICE, GROUP, COORDINATOR),
	.lacks = "the JobSet's name, in xpk 1.9: pass --master-addr or --hosts",
	.detect = cpus_detect,
	.read = cpus_read,
};
