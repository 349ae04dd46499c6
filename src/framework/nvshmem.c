// SPDX-License-Identifier: Apache-2.0

/**
 * NVSHMEM's network interface for its start. The syntax is NCCL's: a leading '=' stands for whole names.
 *
 * Reference: NVSHMEM's manual, "Environment Variables", Bootstrap options.
 */

#include "framework/framework.h"

#define NAME "NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME"

static void nvshmem_derive(struct derivation *d) {
	derive_interface(d, NAME, "=");
}

const struct framework framework_nvshmem = {
	.name = "nvshmem",
	.about = "the network interface, for the start of NVSHMEM",
	.sets = NAME,
	.interface = NAME,
	.derive = nvshmem_derive,
};
