// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Which frameworks derive: the set that the user names, and one run over it. */

#include "flow/tables.h"

/**
 * Read --frameworks, "all", "none", "default" or names joined by commas, into the set *@out: bit i stands for frameworks[i].
 * Returns 0; -EINVAL for an unknown name, with the nearest.
 */
int frameworks_parse(const char *label, const char *text, uint32_t *out, struct err *err);

/** The default set. */
uint32_t frameworks_standard(void);

/** Whether some framework of @set needs to know the network interface: its variable has no value yet. */
bool frameworks_want_interface(uint32_t set, const struct env *env);

/** Whether some framework of @set asks for a host file. */
bool frameworks_want_hostfile(uint32_t set);

/**
 * Let each framework of @set derive its variables. Nothing at all for a cluster of one, nor for one that is none.
 * Returns 0; -EINVAL where what the user told for one of them does not fit the cluster.
 */
int frameworks_derive(uint32_t set, struct derivation *d, struct err *err);
