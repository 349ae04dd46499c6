// SPDX-License-Identifier: Apache-2.0

/**
 * A Slurm job seen from outside its steps: a batch script, a shell of salloc, an interactive step,
 * or a rank that another launcher (mpirun) started in the job. With three nodes of two tasks, it
 * has
 *
 *     SLURM_JOB_ID=1   SLURM_JOB_NODELIST=n[1-3]   SLURM_TASKS_PER_NODE=2(x3)
 *     SLURMD_NODENAME=n1          this node; absent in a shell of salloc (on the submit host)
 *
 * A heterogeneous job has SLURM_HET_SIZE, and SLURM_JOB_NODELIST_HET_GROUP_n for each group. The
 * plain variables are then absent or describe the first group. SLURM_NODEID is not used under
 * another launcher: it counts the nodes of that launcher's daemons.
 *
 * Reference: src/common/env.c, doc/html/heterogeneous_jobs.shtml of Slurm; seen in real runs of
 * 22.05.
 */

#include "base/buf.h"
#include "cluster/hostlist.h"
#include "source/slurm.h"

#include <errno.h>

static const char *job_nodelist(const struct env *env) {
	const char *list = env_value(env, "SLURM_JOB_NODELIST");
	return list ? list : env_value(env, "SLURM_NODELIST");
}

/**
 * The lists of all @groups of a heterogeneous job, joined by commas; NULL if there are no groups, or one
 * of the lists is missing.
 */
static const char *het_variable(struct input *in, const char *name, uint32_t groups) {
	struct buf all = BUF(in->arena);
	for (uint32_t i = 0; i < groups; i++) {
		struct buf one = BUF(in->arena);
		buf_puts(&one, name);
		buf_puts(&one, "_HET_GROUP_");
		buf_putu(&one, i);
		const char *value = env_value(in->env, buf_text(&one));
		if (!value) {
			return NULL;
		}
		if (i) {
			buf_putc(&all, ',');
		}
		buf_puts(&all, value);
	}
	return groups ? buf_text(&all) : NULL;
}

static uint32_t job_node_rank(struct input *in, const struct hosts *hosts) {
	uint32_t index = hosts->n;
	if (!in->found.launcher || !in->found.launcher->copies_env) {
		index = hosts_find_loosely(hosts, str_of(env_value(in->env, "SLURMD_NODENAME")));
	}
	if (in->found.launcher && (index == hosts->n || in->found.task.host.len)) {
		uint32_t by_launcher = launcher_node_rank(in, hosts);
		return by_launcher == UNKNOWN && index < hosts->n ? index : by_launcher;
	}
	struct err several;
	if (index == hosts->n && in->scope.value) {
		// Only --scope makes this search useful: a shell of salloc is on none of the nodes.
		return self_find(in, hosts, &index, &several) == 1 ? index : UNKNOWN;
	}
	return index == hosts->n ? UNKNOWN : index;
}

int slurm_read_job(struct input *in, struct placement *out, struct err *err) {
	uint32_t groups = 0;
	int r = read_u32(in, "SLURM_HET_SIZE", &groups, err);
	if (r < 0) {
		return r;
	}
	const char *list = het_variable(in, "SLURM_JOB_NODELIST", groups);
	const char *counts = list ? het_variable(in, "SLURM_TASKS_PER_NODE", groups)
				  : env_value(in->env, "SLURM_TASKS_PER_NODE");
	bool lacks = !list && (groups || env_value(in->env, "SLURM_JOB_NODELIST_HET_GROUP_0"));
	out->hosts_from = list					     ? "SLURM_JOB_NODELIST_HET_GROUP_*"
			  : env_value(in->env, "SLURM_JOB_NODELIST") ? "SLURM_JOB_NODELIST"
								     : "SLURM_NODELIST";
	list = list ? list : job_nodelist(in->env);
	if (!list) {
		return err_set(err, EINVAL,
			       "SLURM_JOB_NODELIST is not set, "
			       "nor is SLURM_JOB_NODELIST_HET_GROUP_n for every group up to SLURM_HET_SIZE; "
			       "pass all of Slurm's SLURM_* on to this process, or pass --hosts");
	}
	if (lacks) {
		notes_add(in->notes,
			  "only the nodes of %s are known: the job is heterogeneous, "
			  "but SLURM_HET_SIZE or SLURM_JOB_NODELIST_HET_GROUP_n of a group is not set; "
			  "pass all of Slurm's SLURM_* on to this process",
			  out->hosts_from);
	}
	r = hostlist_expand(in->arena, out->hosts_from, str_of(list), &out->hosts, err);
	// Another launcher places its ranks itself; these counts are then those of its daemons.
	struct err why;
	if (r == 0 && counts && !in->found.launcher &&
	    tasks_per_node_read(in->arena, "SLURM_TASKS_PER_NODE", str_of(counts), out->hosts.n,
				&out->tasks_per_node, &why) < 0) {
		// A batch script needs the counts only for explain. They are longer than the list if
		// the user shortened the list.
		notes_add(in->notes, "%s; the counts are ignored", why.text);
	}
	uint32_t nodeid = 0;
	if (r == 0 && !in->found.launcher) {
		r = read_u32(in, "SLURM_NODEID", &nodeid, err);
	}
	r = r < 0 || !nodeid ? r : check_index("SLURM_NODEID", nodeid, out, err);
	if (r < 0) {
		return r;
	}
	out->scope = SCOPE_ALLOCATION;
	out->node_rank = job_node_rank(in, &out->hosts);
	out->job_id = env_value(in->env, "SLURM_JOB_ID");
	out->shared_nodes = true;
	return 0;
}

const struct source source_slurm_allocation = {
	.name = "slurm",
	.about = "Slurm allocation: batch script, salloc, mpirun in a job",
	.reads = READS("SLURM_JOB_ID", "SLURM_JOB_NODELIST", "SLURM_NODELIST", "SLURM_TASKS_PER_NODE",
		       "SLURM_NODEID", "SLURMD_NODENAME", "SLURM_HET_SIZE", "SLURM_JOB_NODELIST_HET_GROUP_*",
		       "SLURM_TASKS_PER_NODE_HET_GROUP_*"),
	.leaves = "SLURM_PROCID, SLURM_NTASKS: a batch script has them, but is not a rank",
	.lacks = "this process's rank: outside srun there are no ranks",
	.job_hosts = SLURM_JOB_HOSTS,
	.row = "with=SLURM_JOB_ID with=SLURM_JOB_NODELIST|SLURM_NODELIST|SLURM_JOB_NODELIST_HET_GROUP_0",
	.read = slurm_read_job,
};
