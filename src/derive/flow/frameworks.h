// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Which frameworks run: the user's set, and one run of it. */

#include "flow/tables.h"

/**
 * Read --frameworks ("all", "none", "default", or names joined by commas) into the set *@out: bit i
 * stands for frameworks[i].
 * Returns 0; -EINVAL for an unknown name, with the nearest known one.
 */
int frameworks_parse(const char *label, const char *text, uint32_t *out, struct err *err);

/** The default set. */
uint32_t frameworks_standard(void);

/** Whether some framework of @set needs the network interface: its variable has no value yet. */
bool frameworks_want_interface(uint32_t set, const struct env *env);

/** Whether some framework of @set reads files of this machine. */
bool frameworks_see_machine(uint32_t set);

/** Whether some framework of @set sets the variable @name. */
bool frameworks_set_variable(uint32_t set, struct str name);

/** The first framework that @text (--frameworks) names and that reads a host file; or NULL. */
const char *frameworks_named_for_hostfile(const char *text);

/** Whether some framework of @set needs a host file. */
bool frameworks_want_hostfile(uint32_t set);

/**
 * Run each framework of @set. For a cluster of one, or if too little of the cluster is known, derive
 * nothing.
 * Returns 0; -EINVAL if a user's setting for a framework does not fit the cluster.
 */
int frameworks_derive(uint32_t set, struct derivation *d, struct err *err);
