// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Recognises the manager and the launcher: asks the tables in their order, and builds the cluster. */

#include "cluster/cluster.h"

/** Check what the user told of a cluster, if there is one or not; brackets go. Returns 0; -EINVAL. */
int input_check(struct input *in, struct err *err);

/**
 * Find out which cluster we are in, and describe it.
 *
 * Returns 1 with *@out set; 0 if there is none, or nothing can be derived (@in->launcher then says
 * whether torchrun started us, and @in->leftover, what has to be removed first); -EINVAL if one is recognised, but its values are missing, malformed
 * or contradictory: @err says which; -ENOENT if the user names an unknown source.
 */
int recognise_cluster(struct input *in, struct cluster *out, struct err *err);

/** Warn of variables of several nodes from which no cluster can be read. nearly_slurm(): also beside a Slurm job. */
void nearly_recognised(const struct input *in);
void nearly_slurm(const struct input *in);
