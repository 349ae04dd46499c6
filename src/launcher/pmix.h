// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What PMIx shows of the launcher. */

#include "cluster/launcher.h"

/**
 * Whether the innermost PMIx server is Slurm's (srun --mpi=pmix: "slurm.pmix.20.0"). What mpirun or
 * prterun has set is then left over: they would have set PMIX_NAMESPACE, too ("prterun-n1-29716@1").
 */
static inline bool pmix_is_slurms(const struct input *in) {
	return str_starts(str_of(env_value(in->env, "PMIX_NAMESPACE")), STR("slurm."));
}
