// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Slurm's counts of tasks per node: "2(x3),1" is 2, 2, 2, 1. */

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

/**
 * Read @text into *@out, @nnodes counts. @what names the variable, in messages.
 *
 * Returns 0; -EINVAL if it is malformed, or has more or fewer counts than there are nodes.
 */
int tasks_per_node_read(struct arena *arena, const char *what, struct str text, uint32_t nnodes,
			uint32_t **out, struct err *err);
