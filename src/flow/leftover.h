// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Variables of a launcher that are left over from another job. sbatch gives a job all variables of the
 * process that calls it. So a training that submits its evaluation leaves RANK, MASTER_ADDR and the like
 * to each task of the new job.
 */

#include "cluster/source.h"

/**
 * Whether what @l has set here is left over: it names a host that is none of the job's, and no
 * process of this job above us has set it. @source recognised the job by the variable @by. If so,
 * it adds a note. It makes system calls only if the host is a doubtful one.
 */
bool leftover_found(struct input *in, const struct source *source, const char *by, const struct launcher *l);

/** Remove from @env all that @l has set, and what was derived for the same master. */
void leftover_remove(struct env *env, const struct launcher *l);
