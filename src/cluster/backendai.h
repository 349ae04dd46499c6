// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What the two sources of Backend.AI share: a session of several containers (backendai.c), or of one (backendai_alone.c). */

#include "cluster/source.h"

/** How many containers there are, and this one's name. */
#define BACKENDAI_SIZE "BACKENDAI_CLUSTER_SIZE"
#define BACKENDAI_HOST "BACKENDAI_CLUSTER_HOST"

/** Whether the session has one container, or none: whatever else is set describes nothing that could be joined. */
bool backendai_is_alone(const struct input *in);
