// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Where the processes of a cluster meet: the master's address, the node that it is on, and the port. */

#include "cluster/cluster.h"

/**
 * Set the fields of the rendezvous in @c, whose layers are read and checked: what the user told, else what the manager tells, else
 * what follows from the hosts and the job. A cluster of one has none, and nothing that is set for one is looked at.
 * Returns 0; -EINVAL where a port is none.
 */
int rendezvous_find(const struct input *in, struct cluster *c, struct err *err);
