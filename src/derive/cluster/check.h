// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Checks that apply to every cluster. Each returns 0; or -EINVAL with a sentence. */

#include "cluster/source.h"

/** Check the hosts and this node's index. Sets place->nnodes if the hosts are known. */
int check_placement(const struct input *in, struct placement *place, struct err *err);

/**
 * Check the given number of nodes: it must not contradict the manager's, and is used if the manager has
 * none.
 */
int check_given_nnodes(const struct input *in, const struct cluster *c, struct placement *place,
		       struct err *err);

/** The same for the given node rank. The scope must be known. */
int check_given_node_rank(const struct input *in, const struct cluster *c, struct placement *place,
			  struct err *err);

/**
 * Refuse a given node rank, unless the nodes are given, too, or the manager starts one process per node.
 * @c: NULL if there is no cluster.
 */
int check_node_rank_needs(const struct input *in, const struct cluster *c, struct err *err);

/** Check the manager's counts of tasks against the launcher's. Drop a layout that does not fit this task. */
int check_layers(struct cluster *c, struct err *err);

/** Check a given --scope=node against both layers. */
int check_scope(struct input *in, const struct cluster *c, struct err *err);
