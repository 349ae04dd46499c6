// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Which of the hosts is this machine? By its name, the launcher's name for it, and its addresses last. */

#include "cluster/cluster.h"

/** A machine's name. */
struct own_name {
	char s[HOST_NAME_BYTES + 2];
};

/** This machine's name, of @in or the kernel, cut to the longest valid length: detect() cannot keep texts. */
struct own_name input_own_name(const struct input *in);

/** The same, not cut; read once and kept in @in. */
const char *input_hostname(struct input *in);

/**
 * Find this machine among @hosts, by its name or else by its addresses.
 * Returns 1 with *@index set; 0 if it is not among them; -EINVAL if several hosts match.
 */
int self_find(struct input *in, const struct hosts *hosts, uint32_t *index, struct err *err);

/**
 * Set out->node_rank for hosts that the user gave: --node-rank, or this machine's index. @list is
 * the user's text, for messages.
 * Returns 0; -EINVAL.
 */
int self_told(struct input *in, const char *list, struct placement *out, struct err *err);

/** This node in @hosts, by the launcher's name for this process's host or else this machine's; or UNKNOWN. */
uint32_t launcher_node_rank(struct input *in, const struct hosts *hosts);
