// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Finds the RDMA ports that can be used on this node, and the settings that libraries do not find by
 * themselves.
 */

#include "node/machine.h"

/** If Google's plugin gIB is installed, this script sets its variables. */
#define GIB_SCRIPT "/usr/local/gib/scripts/set_nccl_env.sh"

enum rdma_matter {
	/** The usable ports: "mlx5_0:1,mlx5_1:1". */
	RDMA_LIST,
	/** The address family of the GIDs: "AF_INET6". */
	RDMA_FAMILY,
	/** The index of a GID that can be used on all ports. */
	RDMA_INDEX,
	/** The common prefix of the cards' names. */
	RDMA_PREFIX,
	/** Only for `check`: some ports are slower; a port lacks only an address. */
	RDMA_RATE,
	RDMA_ADDRESS,
	N_RDMA_MATTERS
};

struct rdma_choice {
	/** The value to set; NULL: the libraries need none, or the right value is unknown. */
	const char *value;
	/** The reason for the value, or for NULL: a clause. */
	const char *why;
	/** The right value is unknown, and the libraries may choose a wrong one. */
	bool doubt;
};

struct rdma {
	/** The number of usable ports. */
	uint32_t ports;
	/** Their link layer: "InfiniBand", "Ethernet", "both" or "none". */
	const char *layer;
	/** The address family of their GIDs: "IPv4", "IPv6", "both" or "none". */
	const char *family;
	/** This node has Amazon's cards (EFA), which are not among @ports. */
	bool efa;
	/** By enum rdma_matter. */
	struct rdma_choice choices[N_RDMA_MATTERS];
};

/** Examine this node's cards. The same files give the same result. */
void rdma_find(const struct machine *m, struct rdma *out);
