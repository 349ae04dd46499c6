// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Which of the hosts is this machine? By its name, or by what the launcher calls it; by its addresses last. */

#include "cluster/cluster.h"

/** A machine's name. */
struct own_name {
	char s[HOST_NAME_BYTES + 2];
};

/** This machine's name: @in's, or the kernel's; cut where it is longer than any name. For detect(), which cannot keep it. */
struct own_name input_own_name(const struct input *in);

/** The same, asked once and kept in @in, whole. */
const char *input_hostname(struct input *in);

/**
 * Find this machine among @hosts, by its name or else by its addresses.
 * Returns 1 with *@index set; 0 if it is none of them; -EINVAL if it is several.
 */
int self_find(struct input *in, const struct hosts *hosts, uint32_t *index, struct err *err);

/**
 * Set out->node_rank of hosts that the user told: --node-rank, or else this machine's place. @list is what was told, for messages.
 * Returns 0; -EINVAL.
 */
int self_told(struct input *in, const char *list, struct placement *out, struct err *err);

/** This node's index in @hosts by the launcher's word for this process's host, or else by this machine's name; or UNKNOWN. */
uint32_t launcher_node_rank(struct input *in, const struct hosts *hosts);
