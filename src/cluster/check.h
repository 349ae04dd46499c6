// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Checks that apply to every cluster. Each returns 0; or -EINVAL with a sentence. */

#include "cluster/source.h"

/** Check the hosts and this node's index. Sets place->nnodes if the hosts are known. */
int check_placement(const struct input *in, struct placement *place, struct err *err);

/** Check the user's number of nodes: it completes what the manager gives, and must not contradict it. */
int check_told_nnodes(const struct input *in, const struct cluster *c, struct placement *place,
		      struct err *err);

/** The same for the user's number of this node. Needs the scope. */
int check_told_node_rank(const struct input *in, const struct cluster *c, struct placement *place,
			 struct err *err);

/** Refuse the user's number of this node if @c has no nodes that it could be of. @c: NULL if there is none. */
int check_node_rank_needs(const struct input *in, const struct cluster *c, struct err *err);

/** Check the tasks' counts against the launcher's. A layout that is wrong for this task is dropped. */
int check_layers(struct cluster *c, struct err *err);

/** Check the user's --scope=node against the layers. */
int check_scope(struct input *in, const struct cluster *c, struct err *err);
