// SPDX-License-Identifier: Apache-2.0
#pragma once

/** A rendezvous host: is it likely to be wrong? */

#include "cluster/cluster.h"

/**
 * Why @host, the master, is likely to be wrong in the cluster @c of several nodes: a clause
 * that follows its name, in the arena; or NULL. Nothing is looked up, so a host may have names of
 * which nothing can be said: only what means each node itself, and a name like those of the hosts, are judged.
 */
const char *choice_doubt(struct arena *arena, const struct cluster *c, struct str host);
