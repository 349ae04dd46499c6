// SPDX-License-Identifier: Apache-2.0

/**
 * Warns about variables of several nodes from which no cluster can be read, because each node would train
 * alone. Only variables that a single process does not have are judged.
 */

#include "base/num.h"
#include "cluster/source.h"
#include "flow/recognise.h"

/** The number in variable @name, or UNKNOWN. */
static uint32_t number_in(const struct input *in, const char *name) {
	uint32_t number;
	return num_read_u32(str_of(env_value(in->env, name)), &number) == 0 ? number : UNKNOWN;
}

static void note(const struct input *in, const char *name, const char *what) {
	notes_add(in->notes, "%s=%s %s, so nothing is derived", name, quote_text(env_value(in->env, name)).s,
		  what);
}

/** Warn if NODE_RANK or a number of nodes is wrong (the manager "plain"). */
static void note_plain(const struct input *in) {
	static const char *const counts[] = {"NNODES", "NUM_NODES", "NODE_COUNT"};
	const char *first = NULL;
	if (!env_value(in->env, "NODE_RANK") || !env_value(in->env, "MASTER_ADDR") ||
	    env_value(in->env, "LOCAL_RANK")) {
		return;
	}
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		const char *value = env_value(in->env, counts[i]);
		if (!value || strchr(value, ':')) {
			continue; // "1:4" is torchrun's own
		}
		if (number_in(in, counts[i]) == UNKNOWN) {
			note(in, counts[i], "is no number of nodes");
			return;
		}
		if (first && number_in(in, first) != number_in(in, counts[i])) {
			notes_add(in->notes,
				  "%s=%s and %s=%s contradict each other, so nothing is derived; "
				  "unset the wrong one",
				  first, quote_text(env_value(in->env, first)).s, counts[i],
				  quote_text(value).s);
			return;
		}
		first = first ? first : counts[i];
	}
	if (first && number_in(in, first) > 1 && number_in(in, "NODE_RANK") == UNKNOWN) {
		note(in, "NODE_RANK", "is no number of a node");
	}
}

static void note_googlebatch(const struct input *in) {
	uint32_t nodes = number_in(in, "BATCH_NODE_COUNT"), tasks = number_in(in, "BATCH_TASK_COUNT");
	if (nodes != UNKNOWN && nodes > 1 && tasks != UNKNOWN && tasks != nodes) {
		notes_add(in->notes,
			  "BATCH_TASK_COUNT=%u is not BATCH_NODE_COUNT=%u: "
			  "only a Google Batch job with a task on each node is a cluster, "
			  "so nothing is derived; describe another one with --hosts or --read",
			  tasks, nodes);
	}
}

void nearly_slurm(const struct input *in) {
	static const char *const sizes[] = {"SLURM_STEP_NUM_TASKS", "SLURM_STEP_NUM_NODES", "SLURM_NTASKS",
					    "SLURM_NNODES"};
	const uint32_t rank = number_in(in, "SLURM_PROCID");
	const char *list = env_get(in->env, "SLURM_STEP_NODELIST");
	// A job script has number 0, and no list of a step.
	bool task = (rank != UNKNOWN && rank > 0) || (list && !*list && rank != UNKNOWN);
	bool several = rank != UNKNOWN && rank > 0;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint32_t size = number_in(in, sizes[i]);
		several = several || (size != UNKNOWN && size > 1);
	}
	if (task && several && !(list && *list)) {
		notes_add(in->notes,
			  "SLURM_PROCID=%u is a task of a step, but SLURM_STEP_NODELIST is %s, "
			  "so this process gets no rank: pass all of srun's SLURM_* on to it",
			  rank, list ? "empty" : "not set");
	}
}

void nearly_recognised(const struct input *in) {
	note_plain(in);
	note_googlebatch(in);
	nearly_slurm(in);
}
