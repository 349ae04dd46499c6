// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Which ports of RDMA are of use on this node, and what its libraries do not find by themselves. */

#include "node/machine.h"

/** The script that sets Google's variables, where gIB is installed. */
#define GIB_SCRIPT "/usr/local/gib/scripts/set_nccl_env.sh"

enum rdma_matter {
	/** The ports of use, "mlx5_0:1,mlx5_1:1". */
	RDMA_LIST,
	/** "AF_INET6" */
	RDMA_FAMILY,
	/** The index of a GID that fits on all ports. */
	RDMA_INDEX,
	/** What the names of the cards have in common. */
	RDMA_PREFIX,
	/** Only for `check`: ports that are slower; a port that lacks only an address. */
	RDMA_RATE,
	RDMA_ADDRESS,
	N_RDMA_MATTERS
};

struct rdma_told {
	/** NULL: the libraries need none, or it is not certain. */
	const char *value;
	/** Why, either way: a clause. */
	const char *why;
	/** It is not certain, and the libraries may choose wrongly. */
	bool doubt;
};

struct rdma {
	/** The ports of use, and of these: "InfiniBand", "Ethernet" or "both"; "IPv4", "IPv6", "both" or "none". */
	uint32_t ports;
	const char *layer, *family;
	/** Amazon's cards are here, which are none of these. */
	bool efa;
	struct rdma_told told[N_RDMA_MATTERS];
};

/** Look at this node's cards. The same files give the same result. */
void rdma_find(const struct machine *m, struct rdma *out);
