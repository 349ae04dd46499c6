// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The master to wait for: whether there is one, and its address. */

#include "flow/flow.h"

/** A master that the user's own variables name, with this process's number among several. */
struct given_master {
	/** The variables: PET_MASTER_ADDR and PET_MASTER_PORT, or MASTER_ADDR and MASTER_PORT. */
	const char *host_from, *port_from;
	uint32_t rank;
};

/**
 * Whether no cluster is known, but PET_* (of torchrun) or MASTER_ADDR, RANK and WORLD_SIZE say all that a wait needs.
 * These are the program's: nothing is derived from them.
 */
bool master_is_given(const struct flow *flow, struct given_master *out);

/**
 * Whether only this node's number is known, so that a wait for the master would say nothing. @asked: the user asked only
 * for the wait; else number 0 may be alone.
 */
bool master_is_uncounted(const struct flow *flow, bool asked);

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
