// SPDX-License-Identifier: Apache-2.0

/**
 * The choice of the network interface in PyTorch's gloo backend, which else is that of the address that the host's own name has:
 * in containers and on Debian often the loopback's. The value is a list of whole names.
 *
 * Reference: PyTorch's manual, "Distributed communication package"; torch/csrc/distributed/c10d/ProcessGroupGloo.cpp.
 */

#include "framework/framework.h"

#define NAME "GLOO_SOCKET_IFNAME"

static void gloo_derive(struct derivation *d) {
	derive_interface(d, NAME, "");
}

const struct framework framework_gloo = {
	.name = "gloo",
	.about = "the network interface, for PyTorch's gloo",
	.sets = NAME,
	.interface = NAME,
	.derive = gloo_derive,
};
