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
	struct counted self;
	derive_endpoint(d, "JAX_COORDINATOR_ADDRESS", "the host of process 0, and the rendezvous port");
	const char *why = process_of(d, "JAX_COORDINATOR_ADDRESS", &self);
	if (why) {
		derive_leaves_out(d, "JAX_NUM_PROCESSES", why);
		derive_leaves_out(d, "JAX_PROCESS_ID", why);
		return;
	}
	derive_number(d, "JAX_NUM_PROCESSES", self.size, "the number of processes");
	derive_number(d, "JAX_PROCESS_ID", self.rank, "this process's number; the master's is 0");
}

const struct framework framework_jax = {
	.name = "jax",
	.about = "jax.distributed",
	.sets = "JAX_COORDINATOR_ADDRESS JAX_NUM_PROCESSES JAX_PROCESS_ID",
	.derive = jax_derive,
};
