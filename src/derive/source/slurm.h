// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Shared by the parts of Slurm: a step (slurm.c and others), and an allocation (slurm_allocation.c). */

#include "cluster/source.h"

/**
 * Whether this process belongs to a real step: SLURM_STEP_ID is a number up to 4294967280 and the
 * step's nodes are set. Batch scripts have no step id, or -5; interactive steps have 4294967290, or
 * -6 (slurm/slurm.h of Slurm). False also if the step belongs to another job, from which this one
 * was submitted.
 */
bool slurm_in_step(const struct env *env);

/**
 * Read Slurm's counts of tasks per node, "2(x3),1", into *@out, an array of @nnodes: 2, 2, 2, 1. @what
 * names the variable, for messages. Returns 0; -EINVAL for another form, or another number of counts.
 */
int tasks_per_node_read(struct arena *arena, const char *what, struct str text, uint32_t nnodes,
			const uint32_t **out, struct err *err);

/** An inner launcher may use all nodes of the job, not only those of the step. */
#define SLURM_JOB_HOSTS READS("SLURM_JOB_NODELIST", "SLURM_STEP_NODELIST")

/** The largest number of groups; Slurm's own limit is lower (MAX_HET_JOB_COMPS). */
#define SLURM_HET_GROUPS_MAX 128

/** Fill in @out from the job's variables: the hosts of the whole job, but no tasks. Returns 0; -EINVAL. */
int slurm_read_job(struct input *in, struct placement *out, struct err *err);

/** Set out->layout and out->master for a step whose hosts and node rank are set. Returns 0; -EINVAL. */
int slurm_read_layout(struct input *in, struct placement *out, struct err *err);
