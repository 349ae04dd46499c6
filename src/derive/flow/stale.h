// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Finds stale variables: those that a launcher set in another job. sbatch gives a job all variables of the
 * process that calls it. So if a training submits its evaluation, each task of the new job inherits RANK,
 * MASTER_ADDR and the like.
 */

#include "cluster/source.h"

/**
 * Whether the variables of @l are stale: they name a host outside this job, or count other nodes than the step
 * has, and no ancestor process in this job has set them. If they are, add a note. @source recognised the job by
 * the variable @by; NULL: no job. Makes system calls only if the host or the count is such.
 */
bool stale_found(struct input *in, const struct source *source, const char *by, const struct launcher *l);

/**
 * Remove the stale variables of @l from @env, and those that distinit derived for the same master in the
 * other job.
 */
void stale_remove(struct env *env, const struct launcher *l);
