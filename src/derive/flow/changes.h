// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The changes that a flow has made to the environment, for `explain` and the log. */

#include "flow/flow.h"

/** The most bytes of a value that people are shown. */
#define CHANGE_SHOWN 160

struct change {
	const char *name;
	/** NULL: the variable was removed or left out. */
	const char *value;
	/** "set", "kept", "left-out" or "unset". */
	const char *action;
	/** The origin: a framework, "user", "--set", "FILE:3". */
	const char *by;
	/** One clause, or NULL. */
	const char *why;
};

/**
 * List, in the arena, the variables that were set, kept, left out and removed by flow_derive(). Unless
 * @show_secrets, values that look secret are masked. Values are cut after @most bytes, as by arena_cut();
 * SIZE_MAX: not at all. Warn about a mistake in the user's TF_CONFIG. Returns the number of changes.
 */
uint32_t flow_changes(struct flow *flow, bool show_secrets, size_t most, struct change **out);
