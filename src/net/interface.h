// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Which of this machine's network interfaces leads to the other nodes. */

#include "cluster/cluster.h"

/**
 * Find the interface that leads to the master. On the master's own node, that would be the
 * loopback, so find the one that leads to the next node. Names are resolved, which may ask the name
 * server and has no timeout here. Nothing is sent to the nodes: a connected UDP socket shows the
 * source address that the kernel would use.
 *
 * Returns the interface's name, with this machine's address on it in *@address; or NULL. *@why is a
 * clause: where it leads, or why it is not known.
 */
const char *interface_find(struct arena *arena, const struct cluster *cluster, const char **address,
			   const char **why);

/** An interface of this machine, as the kernel has it. */
struct own_interface {
	const char *name;
	bool up, loopback;
	/** It has an address of IPv4 or IPv6. */
	bool addressed;
};

/** List all interfaces into *@out. Returns how many there are; 0 if they cannot be read. */
uint32_t interfaces_list(struct arena *arena, struct own_interface **out);
