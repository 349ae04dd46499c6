// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Distributes the tasks of 'distrun launch' over its nodes, as csrun_wse does: the first node gets the
 * generic resource, some nodes may have a single task, the others have several tasks. srun gets this as a
 * heterogeneous step, whose components are separated by ':'.
 */

#include "base/words.h"

#include <stdint.h>

struct layout {
	/** The number of nodes, at least 1. */
	uint32_t nodes;
	/** How many of the first nodes have a single task. */
	uint32_t single_task_nodes;
	/** The number of tasks on each other node, at least 1. */
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
 * Cut @layout into *@n parts, in the arena. One node: 1 part. Several nodes: 2 parts. With single-task nodes:
 * one part for each of these, and one for the rest.
 * Returns 0; -EINVAL if there is no node, no task, or no node left for several tasks.
 */
int layout_parts(struct arena *arena, const struct layout *layout, struct layout_part **parts, size_t *n,
		 struct err *err);

/** The number of all tasks. @layout must have passed layout_parts(). */
uint64_t layout_tasks(const struct layout *layout);

/**
 * Append srun's options for the @n parts to @words, separated by ':'. Add @more, ended by NULL, to each
 * part, because srun does not apply the options of a component to the others.
 */
void layout_put(const struct layout *layout, const struct layout_part *parts, size_t n, char *const more[],
		struct words *words);
