// SPDX-License-Identifier: Apache-2.0

/**
 * AWS Neuron: its runtime and its PJRT client, for JAX and PyTorch. Process 0 listens at
 * NEURON_RT_ROOT_COMM_ID, beside the framework's own rendezvous, so that has the next port, as in public
 * launch scripts. Under torchrun, libneuronxla sets the index of each child itself.
 *
 * NEURON_PJRT_PROCESSES_NUM_DEVICES, a list of each process's devices, is left to the user: no manager
 * tells them, and what is set there reaches torchrun's children, which have one each.
 *
 * Reference: set_rt_root_comm_id() and configure_pjrt_environment() in libneuronxla's PyTorch plugin; the
 * launch script for Slurm of axlearn.
 */

#include "framework/framework.h"

static const char root[] = "NEURON_RT_ROOT_COMM_ID";

static void neuron_derive(struct derivation *d) {
	const struct cluster *c = d->cluster;
	if (c->master_port == UINT16_MAX) {
		derive_leaves_out(d, root, "there is no next port");
	} else {
		derive_address(d, root, "", (uint16_t)(c->master_port + 1),
			       "the host of process 0, and the next port");
	}
	derive_process(d, root, NULL, "NEURON_PJRT_PROCESS_INDEX");
}

const struct framework framework_neuron = {
	.name = "neuron",
	.about = "AWS Neuron",
	.sets = "NEURON_RT_ROOT_COMM_ID NEURON_PJRT_PROCESS_INDEX",
	.derive = neuron_derive,
};
