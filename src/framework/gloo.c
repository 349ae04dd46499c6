// SPDX-License-Identifier: Apache-2.0

/**
 * The network interface of PyTorch's gloo backend. Without this variable, gloo uses the interface
 * of the address to which the host's own name resolves: in containers and on Debian often the
 * loopback. The value is a list of whole names.
 *
 * Reference: PyTorch's manual, "Distributed communication package";
 * torch/csrc/distributed/c10d/ProcessGroupGloo.cpp.
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
