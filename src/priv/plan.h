// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * From what is asked for to what is done. First all of it is checked against what the process has and the kernel allows, while nothing
 * has been changed; then it is done, in the one order that works; then read back.
 */

#include "priv/wishes.h"

struct priv_plan {
	/** What we shall be when it is done, and shall then find. */
	struct credentials target;
	/** What is effective in the workload then. */
	uint64_t workload;
	/** The steps. */
	bool set_groups;
	bool set_gid;
	bool set_uid;
	bool set_caps;
	bool set_no_new_privs;
	/** What leaves the bounding set. */
	uint64_t drop_bounding;
	/** What we have now; and what of it we have still when the ids have changed. */
	uint64_t permitted_now;
	uint64_t permitted_later;
	uint64_t inheritable_now;
	/** For messages: as in struct wishes. */
	const char *user_from;
};

/**
 * Plan what @wishes asks for. Nothing is changed; /proc/self/uid_map, gid_map and setgroups are read, if they are there, where
 * ids are to change.
 *
 * Returns 0; -EPERM where we may not, with the capability or id that it fails at and the way out in @err; -EINVAL for an id that
 * this user namespace has not, or a capability that the kernel has not.
 */
int priv_plan(struct arena *arena, const struct wishes *wishes, const struct credentials *now,
	      struct notes *notes, struct priv_plan *out, struct err *err);

/** Let this process keep @caps, as far as it has them. What it executes does not get them. */
void priv_plan_keep(struct priv_plan *plan, uint64_t caps);

/**
 * Do it, then read everything back. It acts on the calling thread, which has to be the only one.
 *
 * Returns 0; a negative errno where a step failed or something else is found than was planned. The process is then in between,
 * and fit for nothing but to say so and end.
 */
int priv_apply(struct arena *arena, const struct priv_plan *plan, struct err *err);
