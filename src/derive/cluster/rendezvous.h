// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The master of a cluster: its address, its node, and its port. */

#include "cluster/cluster.h"

/** The port if none is set: PyTorch's own default. */
#define RENDEZVOUS_PORT 29500

/**
 * Ports that are derived from a job: PORT_BASE + X mod PORT_SPAN. They are below the ephemeral ports (32768
 * and up) and Kubernetes' NodePorts (30000 to 32767), and differ from PyTorch's default. If jobs share
 * nodes, X is 31 x job + step. If that port is taken, the roll call tries other values of X: digests of the
 * job's id.
 */
#define PORT_BASE 20000
#define PORT_SPAN 9400

/**
 * Set the master's fields of @c, whose layers have been read and checked. The user's value comes first,
 * then the manager's, then a value derived from the hosts and the job. In a cluster of one, settings of
 * the master are ignored.
 * Returns 0; -EINVAL if a port is not valid.
 */
int rendezvous_find(const struct input *in, struct cluster *c, struct err *err);

/**
 * Whether @value is an address that Kubernetes sets for a service, "tcp://10.0.0.1:80", and so no port: for a
 * service called "master", it sets MASTER_PORT to one. NULL is none.
 */
bool is_service_link(const char *value);
