// SPDX-License-Identifier: Apache-2.0

/**
 * Spur's srun. Rank 3 of four has
 *
 *     SPUR_PROCID=3   SPUR_STEP_NUM_TASKS=4   SPUR_LOCALID=1   SPUR_NTASKS=4
 *
 * The script of a job has SPUR_PROCID, too. If it was submitted in a step, it inherits the number of
 * the step's tasks, but SPUR_NTASKS is its own.
 *
 * Reference: crates/spur-core/src/spur_env.rs of Spur (4cc3da84, 2026-08).
 */

#include "cluster/launcher.h"

static bool spur_detect(const struct input *in) {
	return str_eq(str_of(env_value(in->env, "SPUR_STEP_NUM_TASKS")),
		      str_of(env_value(in->env, "SPUR_NTASKS")));
}

const struct launcher launcher_spur = {
	.name = "spur",
	.about = "Spur's srun",
	.rank = "SPUR_PROCID",
	.size = "SPUR_STEP_NUM_TASKS",
	.local_rank = "SPUR_LOCALID",
	.recognised_by = "SPUR_STEP_NUM_TASKS",
	.detect = spur_detect,
	.manager = "spur",
};
