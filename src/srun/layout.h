// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * How the tasks of 'distrun launch' are distributed over its nodes, as in csrun_wse: the first node
 * gets the generic resource, some nodes may have a single task, the rest have several tasks. srun
 * gets this as a heterogeneous step: components separated by ':'.
 */

#include "base/words.h"

#include <stdint.h>

struct layout {
	/** At least 1. */
	uint32_t nodes;
	/** How many of the nodes, the first ones, have one task only. */
	uint32_t single_task_nodes;
	/** Tasks on each other node. */
	uint32_t tasks_per_node;
	/** 0: Slurm decides. */
	uint32_t cpus_per_task;
	/** Distribute ranks round-robin over the nodes, instead of filling one after the other. */
	bool cyclic;
	/** The generic resource of the first node; NULL: none. */
	const char *gres;
};

/** Nodes with the same layout: a component of the heterogeneous step. */
struct layout_part {
	uint32_t nodes;
	uint32_t tasks_per_node;
	uint32_t cpus_per_task;
	bool gres;
	bool cyclic;
	bool exclusive;
};

/**
 * Cut @layout into parts, in the arena: 1 for one node, 2 for several nodes; with single-task
 * nodes, one part for each of them and one for the rest. Writes the number of parts to *@n.
 * Returns 0; -EINVAL if there is no node, no task, or no node left for several tasks.
 */
int layout_parts(struct arena *arena, const struct layout *layout, struct layout_part **parts, size_t *n,
		 struct err *err);

/** The number of all tasks. @layout must have passed layout_parts(). */
uint64_t layout_tasks(const struct layout *layout);

/**
 * Write srun's options for the @n parts into @words, separated by ':'. @more, ended by NULL, is
 * added to each part: srun does not apply options of one component to the others.
 */
void layout_put(const struct layout *layout, const struct layout_part *parts, size_t n, char *const more[],
		struct words *words);
