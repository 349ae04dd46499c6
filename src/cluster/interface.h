// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Which of this machine's network interfaces leads to the other nodes. */

#include "cluster/cluster.h"

struct interface {
	/** As the kernel calls it; NULL: it is not known. */
	const char *name;
	/** What it leads to, or why it is not known: one clause. */
	const char *why;
};

/**
 * Find the interface that leads to the master; on the master's own node, where that would be the loopback, the one that leads to the
 * next node. Names are resolved, which may ask the name server and take as long as it takes; nothing is sent to the nodes
 * themselves: a connected UDP socket tells the address that the kernel would send from.
 */
struct interface interface_find(struct arena *arena, const struct cluster *cluster);
