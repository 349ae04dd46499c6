// SPDX-License-Identifier: Apache-2.0

/**
 * Is this process in a real step? srun sets in every task, here rank 3 of six on three nodes:
 *
 *     SLURM_STEP_ID=0          SLURM_PROCID=3
 *     SLURM_STEP_NUM_TASKS=6   SLURM_LOCALID=1
 *
 * A batch script also has SLURM_PROCID=0 and SLURM_NTASKS=6, but is not one of the six tasks. If
 * sbatch or salloc runs in a step, the new job inherits the step's variables.
 *
 * Reference: src/common/env.c of Slurm; seen in real runs of 22.05.
 */

#include "source/slurm.h"

#include "base/num.h"
#include "cluster/hostlist.h"

/** Larger ids belong to batch scripts, interactive steps and extern steps. */
#define REAL_STEP_MAX 0xfffffff0u

/** The hosts of @list; none if it is NULL or no host list. */
static struct hosts expand(struct arena *arena, const char *list) {
	struct hosts hosts = {0};
	struct err unused;
	hostlist_expand(arena, "", str_of(list), &hosts, &unused);
	return hosts;
}

/** Whether @counts has a count for each host of @list. */
static bool counts_fit(struct arena *arena, const char *list, const char *counts) {
	struct err unused;
	const uint32_t *tasks;
	uint32_t n = expand(arena, list).n;
	return n && tasks_per_node_read(arena, "", str_of(counts), n, &tasks, &unused) == 0;
}

/** Whether the first or last host of the step is not one of the job's. */
static bool is_outside(struct arena *arena, const char *step, const char *job) {
	struct hosts inner = expand(arena, step), outer = expand(arena, job);
	return inner.n && outer.n &&
	       (hosts_find(&outer, hosts_at(&inner, 0)) == outer.n ||
		hosts_find(&outer, hosts_at(&inner, inner.n - 1)) == outer.n);
}

/** Whether @name is a host of @list, but not the first. */
static bool is_later(struct arena *arena, const char *list, struct str name) {
	struct hosts hosts = expand(arena, list);
	uint32_t index = hosts_find_loosely(&hosts, name);
	return index > 0 && index < hosts.n;
}

/**
 * Whether SLURM_TASKS_PER_NODE may differ from the step's own counts, as under srun --preserve-env.
 * Two conditions must hold: this is one of several tasks, and the job was not submitted from a node
 * of the step. A job that inherited SLURM_STEP_* was submitted from such a node.
 */
static bool counts_are_preserved(const struct env *env, const char *step) {
	uint32_t rank = 0, size = 0;
	struct hosts hosts = expand(env->arena, step);
	num_read_u32(str_of(env_value(env, "SLURM_PROCID")), &rank);
	num_read_u32(str_of(env_value(env, "SLURM_STEP_NUM_TASKS")), &size);
	struct str submitter = str_of(env_value(env, "SLURM_SUBMIT_HOST"));
	return (rank > 0 || size > 1) && hosts_find_loosely(&hosts, submitter) == hosts.n;
}

/**
 * Whether SLURM_STEP_* belong to a step from which this job was submitted: sbatch and salloc pass
 * them on to the new job. Then both sets are complete, but contradict each other.
 */
static bool step_is_leaked(const struct env *env) {
	const char *step = env_value(env, "SLURM_STEP_NODELIST"), *job = env_value(env, "SLURM_JOB_NODELIST");
	const char *inner = env_value(env, "SLURM_STEP_TASKS_PER_NODE");
	const char *outer = env_value(env, "SLURM_TASKS_PER_NODE");
	if (job && strcmp(step, job) != 0 && is_outside(env->arena, step, job)) {
		return true;
	}
	// A batch script has SLURM_GTIDS=0 on node 0, the first of the list. A step with several tasks on
	// that node would list more ranks.
	bool script = str_is(str_of(env_value(env, "SLURM_GTIDS")), "0") &&
		      str_is(str_of(env_value(env, "SLURM_NODEID")), "0") &&
		      !is_later(env->arena, job, str_of(env_value(env, "SLURMD_NODENAME")));
	if (script && inner && !(inner[0] == '1' && (inner[1] < '0' || inner[1] > '9'))) {
		return true;
	}
	// In a step, both describe the step, unless srun --preserve-env kept the job's.
	return inner && outer && strcmp(inner, outer) != 0 && counts_fit(env->arena, step, inner) &&
	       counts_fit(env->arena, job, outer) && !counts_are_preserved(env, step);
}

bool slurm_in_step(const struct env *env) {
	uint64_t id;
	return num_read(str_of(env_get(env, "SLURM_STEP_ID")), REAL_STEP_MAX, &id) == 0 &&
	       env_value(env, "SLURM_STEP_NODELIST") && !step_is_leaked(env);
}
