// SPDX-License-Identifier: Apache-2.0

/**
 * Flux, as the launcher of a task (for the manager see source/flux.c). Task 5 of eight has
 *
 *     FLUX_JOB_ID=f2e73NP (with a letter that is not ASCII)   FLUX_JOB_SIZE=8
 *     FLUX_TASK_RANK=5                                        FLUX_TASK_LOCAL_ID=1
 *
 * Reference: doc/man7/flux-environment.rst of flux-core.
 */

#include "cluster/launcher.h"

static bool flux_detect(const struct input *in) {
	return env_value(in->env, "FLUX_JOB_ID");
}

const struct launcher launcher_flux = {
	.name = "flux",
	.about = "Flux (flux run, flux submit)",
	.rank = "FLUX_TASK_RANK",
	.size = "FLUX_JOB_SIZE",
	.local_rank = "FLUX_TASK_LOCAL_ID",
	.recognised_by = "FLUX_JOB_ID",
	.detect = flux_detect,
};
