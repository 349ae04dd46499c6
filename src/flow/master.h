// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The master that a wait is for: whether there is one, and its address. */

#include "flow/flow.h"

/**
 * Why there is nothing to wait for: one clause; or NULL. @asked: the user asked for nothing but the wait, so a master that is
 * told by hand is enough.
 */
const char *master_pointless(const struct flow *flow, bool asked);

/**
 * Find the master's host: what the program will read, else what the cluster says, else what the user told.
 * Returns 0 with *@host, a name or an address without brackets; -EINVAL where nobody tells it, or where it is none.
 */
int master_host(const struct flow *flow, const char **host, struct err *err);

/** Find its port, in host byte order, likewise. Returns 0; -EINVAL. */
int master_port(const struct flow *flow, uint16_t *port, struct err *err);
