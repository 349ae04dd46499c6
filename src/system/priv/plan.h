// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Plans and makes the change of privileges. priv_plan() checks the whole request against the rights of
 * the process and the limits of the kernel, and changes nothing. priv_apply() takes the steps, in the only
 * order that works, then reads the credentials back and compares them.
 */

#include "priv/wishes.h"

struct priv_plan {
	/** The credentials that this process is to have. */
	struct credentials target;
	/** The effective capabilities that the workload will have after execve(). */
	uint64_t workload;
	/** The steps to take. */
	bool set_groups;
	bool set_gid;
	bool set_uid;
	bool set_caps;
	bool set_no_new_privs;
	/** Capabilities to drop from the bounding set. */
	uint64_t drop_bounding;
	/** The permitted set now, and the one that remains after the change of ids. */
	uint64_t permitted_now;
	uint64_t permitted_later;
	uint64_t inheritable_now;
	/** For messages, as in struct wishes. */
	const char *user_from;
};

/**
 * Plan the changes for @wishes, and change nothing yet. If ids are to change, read /proc/self/uid_map,
 * gid_map and setgroups, as far as they exist.
 *
 * Returns 0; -EPERM if we lack a right: the message names the capability or id and the way out;
 * -EINVAL for an id that this user namespace does not have, or a capability that this kernel does not
 * have.
 */
int priv_plan(struct arena *arena, const struct wishes *wishes, const struct credentials *now,
	      struct notes *notes, struct priv_plan *out, struct err *err);

/** Let this process keep @caps, as far as it has them. A program that it executes does not get them. */
void priv_plan_keep(struct priv_plan *plan, uint64_t caps);

/**
 * Change the privileges of the calling thread, which has to be the only one, then read them back.
 *
 * Returns 0; or a negative errno if a step failed or the result differs from the plan. Then the privileges
 * are undefined, and the process must only report the error and exit.
 */
int priv_apply(struct arena *arena, const struct priv_plan *plan, struct err *err);
