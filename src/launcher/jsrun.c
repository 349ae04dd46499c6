// SPDX-License-Identifier: Apache-2.0

/**
 * IBM's jsrun, the launcher of LSF's CORAL machines. Rank 3 of four has
 *
 *     JSM_NAMESPACE_RANK=3   JSM_NAMESPACE_LOCAL_RANK=1
 *     JSM_NAMESPACE_SIZE=4   JSM_NAMESPACE_LOCAL_SIZE=2
 *
 * Reference: src/lightning/fabric/plugins/environments/lsf.py of Lightning, which reads them.
 */

#include "cluster/launcher.h"

const struct launcher launcher_jsrun = {
	.name = "jsrun",
	.about = "IBM's jsrun",
	.rank = "JSM_NAMESPACE_RANK",
	.size = "JSM_NAMESPACE_SIZE",
	.local_rank = "JSM_NAMESPACE_LOCAL_RANK",
	.local_size = "JSM_NAMESPACE_LOCAL_SIZE",
};
