// SPDX-License-Identifier: Apache-2.0

/**
 * CraneSched's crun. Rank 3 of four has
 *
 *     CRANE_PROCID=3   CRANE_NTASKS=4   CRANE_NODEID=1
 *
 * A script of cbatch has CRANE_PROCID=0 as well, and a crun in it passes that on to all its tasks. So 0
 * is a rank only if PMIx says so, too (crun --mpi=pmix): PMIX_RANK=0, PMIX_NAMESPACE=crane.pmix.12.1.
 *
 * Reference: src/Craned/Supervisor/TaskManager.cpp, src/Utilities/Pmix/Pmix.cpp of CraneSched
 * (f09bacd4, 2026-07); internal/util/os.go of its front end (e03e620b).
 */

#include "base/num.h"
#include "cluster/launcher.h"

static bool crane_detect(const struct input *in) {
	struct str step = str_of(env_value(in->env, "PMIX_NAMESPACE"));
	uint32_t rank;
	return num_read_u32(str_of(env_value(in->env, "CRANE_PROCID")), &rank) < 0 || rank > 0 ||
	       (str_starts(step, STR("crane.pmix.")) && str_is(str_of(env_value(in->env, "PMIX_RANK")), "0"));
}

const struct launcher launcher_crane = {
	.name = "crane",
	.about = "CraneSched's crun",
	.rank = "CRANE_PROCID",
	.size = "CRANE_NTASKS",
	.node = "CRANE_NODEID",
	.detect = crane_detect,
	.manager = "crane",
};
