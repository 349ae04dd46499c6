// SPDX-License-Identifier: Apache-2.0

/**
 * NCCL's network interface. Without this variable, NCCL takes the first interface whose name starts
 * with "ib", else the first that is neither docker's nor the loopback. The value is a list of name
 * prefixes. With a leading '=', it is a list of whole names: "=eth0" does not match eth01.
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
