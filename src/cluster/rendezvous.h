// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Where the processes of a cluster meet: the master's address, its node, and the port. */

#include "cluster/cluster.h"

/** The port if none is set: PyTorch's own default. */
#define RENDEZVOUS_PORT 29500

/**
 * Set the rendezvous fields of @c, whose layers have been read and checked. The user's value comes
 * first, then the manager's, then what follows from the hosts and the job. A cluster of one has no
 * rendezvous, and settings for it are ignored.
 * Returns 0; -EINVAL if a port is not valid.
 */
int rendezvous_find(const struct input *in, struct cluster *c, struct err *err);
