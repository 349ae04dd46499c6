// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * How the tasks of 'distrun launch' lie on its nodes, as csrun_wse has it: the first node takes the special resource, some nodes may have a single
 * task, the rest have several. srun is told by a heterogeneous step: parts with ':' between.
 */

#include "base/words.h"

#include <stdint.h>

struct layout {
	/** At least 1. */
	uint32_t nodes;
	/** How many of them, the first ones, have one task only. */
	uint32_t single_task_nodes;
	/** On each of the others. */
	uint32_t tasks_per_node;
	/** 0: Slurm decides. */
	uint32_t cpus_per_task;
	/** Ranks go round the nodes, instead of filling one after the other. */
	bool cyclic;
	/** For the first node; NULL: none. */
	const char *gres;
};

/** Nodes of one kind. */
struct layout_part {
	uint32_t nodes;
	uint32_t tasks_per_node;
	uint32_t cpus_per_task;
	bool gres;
	bool cyclic;
	bool exclusive;
};

/**
 * Cut @layout into parts, in the arena: 1 for one node, 2 for several, one for each single-task node and one for the rest. Their number goes to *@n.
 * Returns 0; -EINVAL where there is no node, no task, or no node left for several tasks.
 */
int layout_parts(struct arena *arena, const struct layout *layout, struct layout_part **parts, size_t *n,
		 struct err *err);

/** How many tasks there will be. @layout is one that layout_parts() has accepted. */
uint64_t layout_tasks(const struct layout *layout);

/**
 * Write srun's options for the @n parts into @words, with ':' between. @more, which ends with NULL, is what each part is to have beside them: srun takes
 * no option of one part for the others.
 */
void layout_put(const struct layout *layout, const struct layout_part *parts, size_t n, char *const more[],
		struct words *words);
