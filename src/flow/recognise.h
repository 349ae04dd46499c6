// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Which manager, which launcher? Asks the tables in their order, and puts the cluster together. */

#include "cluster/cluster.h"

/**
 * Find out which cluster we are in, and describe it.
 *
 * Returns 1 with *@out set; 0 if there is none, or none to derive anything from (@in->launcher then says whether torchrun
 * started us); -EINVAL if one is recognised, but its values are missing, malformed or contradictory: @err says which; -ENOENT if the
 * user asks for a source that there is not.
 */
int recognise_cluster(struct input *in, struct cluster *out, struct err *err);
