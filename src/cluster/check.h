// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What holds for every cluster, whoever described it. Each check returns 0; or -EINVAL with a sentence. */

#include "cluster/source.h"

/** The placement alone: the hosts, and this node's place in them. Sets place->nnodes where the hosts are known. */
int check_placement(const struct input *in, struct placement *place, struct err *err);

/** The user's number of nodes: it completes what the manager tells, and may not contradict it. */
int check_told_nnodes(const struct input *in, const struct cluster *c, struct placement *place,
		      struct err *err);

/** Both layers together: the tasks of the nodes and the launcher's. A layout that is not true of this task is dropped. */
int check_layers(struct cluster *c, struct err *err);

/** The user's --scope=node against the layers. */
int check_scope(struct input *in, const struct cluster *c, struct err *err);
