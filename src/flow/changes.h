// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What a flow has done to the environment, for `explain` and the log. */

#include "flow/flow.h"

struct change {
	const char *name;
	/** NULL: the variable has no value any more. */
	const char *value;
	/** "set", "kept", "left-out" or "unset". */
	const char *action;
	/** Who did it: a framework, "user", "--set", "FILE:3". */
	const char *by;
	/** One clause, or NULL. */
	const char *why;
};

/**
 * List, in the arena, the variables that were set, kept, left out and removed by flow_derive().
 * Unless @show_secrets, values that look secret are masked. A mistake in the user's TF_CONFIG gets a note.
 * Returns how many there are.
 */
uint32_t flow_changes(struct flow *flow, bool show_secrets, struct change **out);
