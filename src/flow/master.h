// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The master to wait for: whether there is one, and its address. */

#include "flow/flow.h"

/**
 * Why there is nothing to wait for: a clause; or NULL. @asked: the user asked only for the wait, so
 * it is enough that the user gave the master.
 */
const char *master_why_not(const struct flow *flow, bool asked);

/**
 * Find the master's host: the value that the program will read, else the cluster's, else the
 * user's.
 * Returns 0 with *@host, a name or an address without brackets; -EINVAL if it is not known or not
 * valid.
 */
int master_host(const struct flow *flow, const char **host, struct err *err);

/** Find its port, in host byte order, likewise. Returns 0; -EINVAL. */
int master_port(const struct flow *flow, uint16_t *port, struct err *err);
