// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Checks of what the user told about a cluster. They hold whether or not there is one. */

#include "cluster/cluster.h"

/** Check all that @in was told by hand. Returns 0, and an address has lost its brackets; -EINVAL. */
int told_check(struct input *in, struct err *err);

/**
 * Read @value, told by @from, as one host, a name or an address, into *@out, which has no brackets.
 * Returns 0; -EINVAL.
 */
int told_host(struct arena *arena, const char *from, const char *value, const char **out, struct err *err);
