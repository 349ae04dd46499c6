// SPDX-License-Identifier: Apache-2.0

/**
 * The network interface of PyTorch's TensorPipe (RPC). Without this variable, it uses the address to which the host's own
 * name resolves. The value is one whole name.
 *
 * Reference: PyTorch's torch/csrc/distributed/rpc/tensorpipe_agent.cpp.
 */

#include "framework/framework.h"

#define NAME "TP_SOCKET_IFNAME"

static void tensorpipe_derive(struct derivation *d) {
	derive_interface(d, NAME, "");
}

const struct framework framework_tensorpipe = {
	.name = "tensorpipe",
	.about = "the network interface, for PyTorch's TensorPipe",
	.sets = NAME,
	.interface = NAME,
	.derive = tensorpipe_derive,
};
