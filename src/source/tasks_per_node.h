// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Slurm's counts of tasks per node: "2(x3),1" is 2, 2, 2, 1. */

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

/**
 * Read @text into *@out, an array of @nnodes counts. @what names the variable, for messages.
 *
 * Returns 0; -EINVAL if the text is malformed, or if the number of counts is not @nnodes.
 */
int tasks_per_node_read(struct arena *arena, const char *what, struct str text, uint32_t nnodes,
			const uint32_t **out, struct err *err);
