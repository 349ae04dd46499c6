// SPDX-License-Identifier: Apache-2.0

/**
 * Dask. A worker and a client that are told no scheduler take the address from Dask's configuration, which
 * DASK_SCHEDULER_ADDRESS sets. `dask scheduler` runs on the master, and listens on 8786 unless told.
 *
 * Reference: distributed/cli/dask_worker.py, distributed/cli/dask_scheduler.py and distributed/client.py
 * of Dask's distributed 2022.12.1.
 */

#include "framework/framework.h"

#define SCHEDULER_PORT 8786

static void dask_derive(struct derivation *d) {
	derive_address(d, "DASK_SCHEDULER_ADDRESS", "tcp://", SCHEDULER_PORT,
		       "the host of rank 0, and Dask's own port");
}

const struct framework framework_dask = {
	.name = "dask",
	.about = "Dask, with its scheduler on the master",
	.sets = "DASK_SCHEDULER_ADDRESS",
	.derive = dask_derive,
};
