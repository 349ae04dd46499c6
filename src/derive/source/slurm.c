// SPDX-License-Identifier: Apache-2.0

/**
 * A Slurm step, as srun makes it. On three nodes with six tasks, each task has:
 *
 *     SLURM_JOB_ID=1   SLURM_STEP_ID=0   SLURM_STEP_NODELIST=n[1-3]
 *     SLURM_STEP_TASKS_PER_NODE=2(x3)
 *     SLURM_NODEID=1   this node's index in SLURM_STEP_NODELIST
 *     SLURM_STEP_RESV_PORTS=17354-17355  ports that only this step has (srun --resv-ports)
 *
 * Only SLURM_STEP_* describe the step: SLURM_JOB_NODELIST describes the job, and
 * SLURM_NTASKS_PER_NODE may be stale. SLURM_LAUNCH_NODE_IPADDR (the node where srun runs) and
 * HOSTNAME (the batch node) may name nodes outside the step.
 *
 * Reference: src/common/env.c of Slurm; seen in real runs of 22.05.
 */

#include "source/slurm.h"

#include "base/num.h"
#include "cluster/hostlist.h"

#include <errno.h>

static const char *slurm_detect(const struct input *in) {
	return slurm_in_step(in->env) ? "SLURM_STEP_ID" : NULL;
}

/** Use the last port of the range: if MPI runs in the same step, its PMI uses the first ones. */
static int read_reserved_port(const struct input *in, struct placement *out, struct err *err) {
	const char *ports = env_value(in->env, "SLURM_STEP_RESV_PORTS");
	if (!ports) {
		return 0;
	}
	const char *last = ports + strlen(ports);
	while (last > ports && last[-1] != '-' && last[-1] != ',') {
		last--;
	}
	out->port_from = "SLURM_STEP_RESV_PORTS";
	if (parse_port(out->port_from, last, &out->port, err) < 0) {
		// Show the whole value: a part of it may no longer look secret.
		return err_set(err, EINVAL, "%s=%s does not end with a port (1 to 65535)", out->port_from,
			       quote_text(ports).s);
	}
	return 0;
}

/**
 * Whether node number n is host n of the list. This may be false in a heterogeneous step ("srun -w n3 A :
 * -w n1,n2 B"): its parts number the nodes in their own order, but Slurm sorts the list, and counts the
 * tasks in the list's order. A node whose index is unchanged cannot detect it.
 */
static bool is_in_order(const struct input *in, const struct placement *out) {
	uint32_t index = hosts_find_loosely(&out->hosts, str_of(env_value(in->env, "SLURMD_NODENAME")));
	uint32_t here = in->found.task.local_size;
	return out->node_rank >= out->hosts.n ||
	       ((index == out->hosts.n || index == out->node_rank) &&
		(here == UNKNOWN || !out->tasks_per_node || here == out->tasks_per_node[out->node_rank]));
}

/** Leave out the hosts, as their order is not known. Warn, unless the user names the master. */
static int leave_hosts_out(const struct input *in, struct placement *out) {
	if (!env_value(in->env, "MASTER_ADDR") && !in->master_addr.value) {
		notes_add(in->notes,
			  "SLURM_NODEID=%u on %s does not fit SLURM_STEP_NODELIST=%s and its tasks: "
			  "the step is heterogeneous, and the order of its nodes is unknown; "
			  "set MASTER_ADDR, or pass --master-addr",
			  out->node_rank, quote_text(env_value(in->env, "SLURMD_NODENAME")).s,
			  quote_text(env_value(in->env, "SLURM_STEP_NODELIST")).s);
	}
	out->nnodes = out->hosts.n;
	out->nnodes_from = "SLURM_STEP_NUM_NODES";
	out->hosts = (struct hosts){0};
	out->hosts_from = NULL;
	out->tasks_per_node = NULL;
	out->shuffled = true;
	return 0;
}

static int slurm_read_step(struct input *in, struct placement *out, struct err *err) {
	const struct env *env = in->env;
	out->hosts_from = "SLURM_STEP_NODELIST";
	int r = hostlist_expand(in->arena, out->hosts_from, str_of(env_get(env, out->hosts_from)),
				&out->hosts, err);
	uint32_t nnodes = out->hosts.n;
	r = r < 0 ? r : read_u32(in, "SLURM_STEP_NUM_NODES", &nnodes, err);
	if (r == 0 && nnodes != out->hosts.n) {
		return err_set(err, EINVAL,
			       "SLURM_STEP_NUM_NODES=%u, but SLURM_STEP_NODELIST=%s lists %u" MANAGERS_COUNT,
			       nnodes, quote_text(env_get(env, out->hosts_from)).s, out->hosts.n);
	}
	const char *counts = env_value(env, "SLURM_STEP_TASKS_PER_NODE");
	if (r == 0 && counts) {
		r = tasks_per_node_read(in->arena, "SLURM_STEP_TASKS_PER_NODE", str_of(counts), nnodes,
					&out->tasks_per_node, err);
	}
	out->node_rank_from = "SLURM_NODEID";
	r = r < 0 ? r : read_u32(in, out->node_rank_from, &out->node_rank, err);
	r = r < 0 ? r : read_u32(in, "SLURM_STEP_ID", &out->step, err);
	r = r < 0 ? r : read_reserved_port(in, out, err);
	if (r < 0) {
		return r;
	}
	out->job_id = env_value(env, "SLURM_JOB_ID");
	out->shared_nodes = true;
	return is_in_order(in, out) ? slurm_read_layout(in, out, err) : leave_hosts_out(in, out);
}

static int slurm_read(struct input *in, struct placement *out, struct err *err) {
	// Another launcher's daemons run as a step of their own, but its ranks run on all nodes of the job.
	bool ours = !in->found.launcher || launched_by(in, "slurm");
	return ours ? slurm_read_step(in, out, err) : slurm_read_job(in, out, err);
}

const struct source source_slurm = {
	.name = "slurm",
	.about = "Slurm step (srun, also with pyxis, enroot or Singularity)",
	.known_by = "SLURM_STEP_ID of an srun step, and SLURM_STEP_NODELIST",
	.reads = READS("SLURM_STEP_ID", "SLURM_STEP_NODELIST", "SLURM_STEP_NUM_NODES",
		       "SLURM_STEP_TASKS_PER_NODE", "SLURM_NODEID", "SLURM_SUBMIT_HOST", "SLURM_JOB_ID",
		       "SLURM_STEP_RESV_PORTS", "SLURM_DISTRIBUTION", "SLURM_HOSTFILE",
		       "SLURM_ARBITRARY_NODELIST", "SLURM_GTIDS", "SLURMD_NODENAME", "SLURM_HET_SIZE",
		       "SLURM_JOB_NODELIST", "SLURM_JOB_NODELIST_HET_GROUP_*"),
	.leaves = "SLURM_JOB_NODELIST (except for heterogeneous groups), SLURM_NNODES, SLURM_NTASKS: they "
		  "describe the job; SLURM_LAUNCH_NODE_IPADDR: srun's node",
	.job_hosts = SLURM_JOB_HOSTS,
	.step_nnodes = "SLURM_STEP_NUM_NODES",
	.daemon = "slurmstepd",
	.detect = slurm_detect,
	.read = slurm_read,
};
