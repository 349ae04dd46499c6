// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Finds this machine among the hosts: by its name or the launcher's name for it, else by its addresses. */

#include "cluster/cluster.h"

/** A machine's name. */
struct own_name {
	char s[HOST_NAME_BYTES + 2];
};

/**
 * This machine's name, from @in or the kernel, cut to the longest valid length. For detect(), whose input
 * is const.
 */
struct own_name input_own_name(const struct input *in);

/** The same, not cut, and stored in @in. */
const char *input_hostname(struct input *in);

/**
 * Find this machine among @hosts, by its name or else by its addresses.
 * Returns 1 with *@index set; 0 if it is not among them; -EINVAL if several hosts match.
 */
int self_find(struct input *in, const struct hosts *hosts, uint32_t *index, struct err *err);

/**
 * Set out->node_rank among the hosts that the user gave: --node-rank, or this machine's index. @list is
 * the user's text, for messages.
 * Returns 0; -EINVAL.
 */
int self_node_rank(struct input *in, const char *list, struct placement *out, struct err *err);

/**
 * This node's index in @hosts, by the launcher's name for this process's host, else by this machine's
 * name; or UNKNOWN.
 */
uint32_t launcher_node_rank(struct input *in, const struct hosts *hosts);
