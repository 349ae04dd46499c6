// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What the parts of Slurm share: a step (slurm.c, slurm_layout.c), an allocation (slurm_allocation.c), a task (slurm_task.c). */

#include "cluster/source.h"

/**
 * Whether this process belongs to a real step: SLURM_STEP_ID is a number up to 4294967280 and the step's nodes are told. Batch
 * scripts have no step id, or -5; interactive steps have 4294967290, or -6 (slurm/slurm.h of Slurm). Nor is it one
 * where the step is that of another job, in which this one was submitted.
 */
bool slurm_in_step(const struct env *env);

/** More groups than Slurm itself allows (MAX_HET_JOB_COMPS). */
#define SLURM_HET_GROUPS_MAX 128

/** Fill in @out from the job's variables: the hosts of the whole job, and no tasks. Returns 0; -EINVAL. */
int slurm_read_job(struct input *in, struct placement *out, struct err *err);

/** Fill in out->layout and out->master for a step whose hosts and node rank are there. Returns 0; -EINVAL. */
int slurm_read_layout(struct input *in, struct placement *out, struct err *err);
