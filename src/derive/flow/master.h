// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Decides whether there is a master to wait for, and finds its address. */

#include "flow/flow.h"

/** The master in the user's own variables, and this process's number. */
struct given_master {
	/** The variables: PET_MASTER_ADDR and PET_MASTER_PORT, or MASTER_ADDR and MASTER_PORT. */
	const char *host_from, *port_from;
	uint32_t rank;
};

/**
 * Whether no cluster is known, but variables give the master, this process's number and the number of
 * processes: PET_* (of torchrun), or MASTER_ADDR, RANK and WORLD_SIZE. The workload reads these variables,
 * and nothing is derived from them.
 */
bool master_is_given(const struct flow *flow, struct given_master *out);

/**
 * Whether only this node's number is known, so that it is not known whether there is a master to wait
 * for. @asked: the user asked only for the wait. If not, number 0 returns false, because it may be alone.
 */
bool master_is_uncounted(const struct flow *flow, bool asked);

/**
 * Why there is nothing to wait for: a clause; or NULL. @asked: the user asked only for the wait. Then it
 * is enough that the user gave the master.
 */
const char *master_why_not(const struct flow *flow, bool asked);

/**
 * Find the master's host: the value that the workload will read, else the cluster's, else the user's.
 * Returns 0 with *@host, a name or an address without brackets; -EINVAL if it is not known or not valid.
 */
int master_host(const struct flow *flow, const char **host, struct err *err);

/** Find the master's port, in host byte order, in the same way. Returns 0; -EINVAL. */
int master_port(const struct flow *flow, uint16_t *port, struct err *err);
