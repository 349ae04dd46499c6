// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Finds the network interface of this machine that leads to the other nodes. */

#include "cluster/cluster.h"
#include "framework/framework.h"

/**
 * Find the interface that leads to the master. On the master's own node, find the interface that leads to
 * another node, because the one to the master would be the loopback. Names are looked up as by
 * lookup_now().
 *
 * Returns 0, also if the interface is not known; -EINTR, with the signal in *@signal, if a signal ended a
 * look-up.
 */
int interface_find(struct arena *arena, const struct cluster *cluster, struct interface *out, int *signal,
		   struct err *err);
