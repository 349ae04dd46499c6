// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Judges whether a given master is likely to be wrong. */

#include "cluster/cluster.h"

/**
 * Why @host, the master, is likely to be wrong in the cluster @c of several nodes: a clause that follows
 * its name, in the arena; or NULL. As no name is looked up, only two kinds are judged: a name or address
 * by which each node reaches itself, and a name of the same form as the hosts'.
 */
const char *choice_doubt(struct arena *arena, const struct cluster *c, struct str host);
