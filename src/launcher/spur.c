// SPDX-License-Identifier: Apache-2.0

/**
 * Spur's srun. Rank 3 of four has
 *
 *     SPUR_PROCID=3   SPUR_STEP_NUM_TASKS=4   SPUR_LOCALID=1   SPUR_NTASKS=4
 *
 * The script of a job has SPUR_PROCID, too. If it was submitted in a step, it inherits the number of
 * the step's tasks, but SPUR_NTASKS is its own. What is no number is nobody's, and an error.
 *
 * Reference: crates/spur-core/src/spur_env.rs of Spur (4cc3da84, 2026-08).
 */

#include "base/num.h"
#include "cluster/launcher.h"

static bool spur_detect(const struct input *in) {
	struct str tasks = str_of(env_value(in->env, "SPUR_STEP_NUM_TASKS"));
	uint32_t unused;
	return str_eq(tasks, str_of(env_value(in->env, "SPUR_NTASKS"))) ||
	       (tasks.len && num_read_u32(tasks, &unused) < 0);
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
