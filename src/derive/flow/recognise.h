// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Recognises the manager and the launcher: asks the tables in their order, and builds the cluster. */

#include "cluster/cluster.h"

/**
 * Check the user's settings for a cluster, even if there is none, and strip brackets of IPv6 addresses.
 * Returns 0; -EINVAL.
 */
int input_check(struct input *in, struct err *err);

/**
 * Find the cluster that this process belongs to, and describe it. Stale variables, of a launcher of another
 * job, are removed from @env, the environment of @in.
 *
 * *@started_by is the launcher that started this process, or NULL. Returns 1 with *@out set; 0 if there is no
 * cluster, or the launcher has set all there is; -EINVAL if a cluster is recognised, but its values are
 * missing, malformed or contradictory; -ENOENT if the user names an unknown source.
 */
int recognise_cluster(struct input *in, struct env *env, struct cluster *out,
		      const struct launcher **started_by, struct err *err);

/**
 * Warn about variables of several nodes from which no cluster can be read. nearly_slurm() is also for the
 * script of a Slurm job.
 */
void nearly_recognised(const struct input *in);
void nearly_slurm(const struct input *in);
