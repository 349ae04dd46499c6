// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Which of this machine's network interfaces leads to the other nodes. */

#include "cluster/cluster.h"

/**
 * Find the interface that leads to the master; on the master's own node, where that would be the loopback, the one that
 * leads to the next node. Names are resolved, which may ask the name server and take as long as it takes. Nothing is sent to
 * the nodes: a connected UDP socket tells the address that the kernel would send from.
 *
 * Returns its name as the kernel calls it, or NULL. *@why says what it leads to, or why it is not known: one clause.
 */
const char *interface_find(struct arena *arena, const struct cluster *cluster, const char **why);
