// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * From the request to the result. First everything is checked against the rights of the process and
 * the limits of the kernel, while nothing has changed. Then it is done, in the only order that
 * works. Then it is read back.
 */

#include "priv/wishes.h"

struct priv_plan {
	/** The credentials afterwards, which are read back and compared. */
	struct credentials target;
	/** The effective capabilities of the workload. */
	uint64_t workload;
	/** The steps to take. */
	bool set_groups;
	bool set_gid;
	bool set_uid;
	bool set_caps;
	bool set_no_new_privs;
	/** Capabilities that leave the bounding set. */
	uint64_t drop_bounding;
	/** The permitted set now, and what remains of it after the change of ids. */
	uint64_t permitted_now;
	uint64_t permitted_later;
	uint64_t inheritable_now;
	/** For messages, as in struct wishes. */
	const char *user_from;
};

/**
 * Plan the changes for @wishes. Nothing is changed yet. If ids are to change, /proc/self/uid_map,
 * gid_map and setgroups are read, if they exist.
 *
 * Returns 0; -EPERM if we lack the right, with the capability or id and the way out in @err;
 * -EINVAL for an id that does not exist in this user namespace, or a capability that does not exist
 * in this kernel.
 */
int priv_plan(struct arena *arena, const struct wishes *wishes, const struct credentials *now,
	      struct notes *notes, struct priv_plan *out, struct err *err);

/** Let this process keep those of @caps that it has. Programs that it executes do not get them. */
void priv_plan_keep(struct priv_plan *plan, uint64_t caps);

/**
 * Change the privileges, then read everything back. It acts on the calling thread, which has to be
 * the only one.
 *
 * Returns 0; a negative errno if a step failed or the result differs from the plan. The process is
 * then in an undefined state, and must only report the error and exit.
 */
int priv_apply(struct arena *arena, const struct priv_plan *plan, struct err *err);
