// SPDX-License-Identifier: Apache-2.0

/**
 * JAX. jax.distributed.initialize() reads JAX_COORDINATOR_ADDRESS and starts the coordinator in
 * process 0, so process 0 runs on the master. It does not read JAX_NUM_PROCESSES and
 * JAX_PROCESS_ID, which Kubeflow's trainer sets: programs pass these to it.
 *
 * Reference: jax/_src/distributed.py of JAX; pkg/runtime/framework/plugins/jax of Kubeflow's
 * trainer.
 */

#include "framework/framework.h"

static void jax_derive(struct derivation *d) {
	derive_endpoint(d, "JAX_COORDINATOR_ADDRESS", "the host of process 0, and the rendezvous port");
	derive_process(d, "JAX_COORDINATOR_ADDRESS", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID");
}

const struct framework framework_jax = {
	.name = "jax",
	.about = "jax.distributed",
	.sets = "JAX_COORDINATOR_ADDRESS JAX_NUM_PROCESSES JAX_PROCESS_ID",
	.derive = jax_derive,
};
