// SPDX-License-Identifier: Apache-2.0

/**
 * NCCL's choice of the network interface, which else is the first that is called ib..., and then the first that is neither
 * docker's nor the loopback. The value is a list of beginnings of names, unless a '=' stands in front: "=eth0" is not eth01.
 *
 * Reference: NCCL's manual, "Environment Variables"; src/misc/socket.cc of NCCL.
 */

#include "framework/framework.h"

#define NAME "NCCL_SOCKET_IFNAME"

static void nccl_derive(struct derivation *d) {
	derive_interface(d, NAME, "=");
}

const struct framework framework_nccl = {
	.name = "nccl",
	.about = "the network interface, for NCCL",
	.sets = NAME,
	.interface = NAME,
	.derive = nccl_derive,
};
