// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * What is asked for by --user, --groups, --cap-drop, --cap-keep and --no-new-privs, with every name as a number. Users and
 * groups are those of the container's own files: the kernel is not asked yet whether it can be done.
 */

#include "base/notes.h"
#include "base/told.h"
#include "priv/credentials.h"

struct priv_options {
	/** USER, USER:GROUP, USER: or :GROUP; names or numbers. */
	struct told user;
	/** init, keep, none. */
	struct told groups;
	struct told cap_drop;
	struct told cap_keep;
	bool no_new_privs;
	/** What stands for "/" where the files are looked for; NULL: that. */
	const char *root;
};

struct wishes {
	/** Whether anything is asked for. */
	bool any;
	/** "--user=app", for messages; NULL: no user is asked for, and the ids below are those that we have. */
	const char *user_from;
	uint32_t uid;
	uint32_t gid;
	/** Whether the supplementary groups shall become these; otherwise they stay. */
	bool change_groups;
	const uint32_t *groups;
	uint32_t n_groups;
	/** "--groups=init", for messages; NULL: they follow from the user. */
	const char *groups_from;
	/** Whether the user is told, and not only a group. */
	bool has_user;
	/** The name of the user that is told; NULL: it has none in /etc/passwd. */
	const char *name;
	/** Its home, "/" where /etc/passwd has none. */
	const char *home;
	/** Name and home of the user that we are; NULL: not in /etc/passwd. */
	const char *name_now;
	const char *home_now;
	/** Never one of `keep`. */
	uint64_t drop;
	uint64_t keep;
	const char *drop_from;
	const char *keep_from;
	bool no_new_privs;
};

/**
 * Understand @options, as @now, who we are.
 * Returns 0; -EINVAL for what is wrong or unknown; what reading /etc/passwd or /etc/group failed with (that they are not there
 * is no failure).
 */
int wishes_read(struct arena *arena, const struct priv_options *options, const struct credentials *now,
		struct notes *notes, struct wishes *out, struct err *err);
