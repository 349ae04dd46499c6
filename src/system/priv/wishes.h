// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The requests in --user, --groups, --cap-drop, --cap-keep and --no-new-privs, with names resolved
 * to numbers. Users and groups come from the container's own files. Whether the kernel permits the
 * changes is checked later.
 */

#include "base/notes.h"
#include "base/setting.h"
#include "priv/credentials.h"

struct priv_options {
	/** USER, USER:GROUP, USER: or :GROUP; names or numbers. */
	struct setting user;
	/** init, keep, none. */
	struct setting groups;
	struct setting cap_drop;
	struct setting cap_keep;
	bool no_new_privs;
	/** Set the user's groups even if the process already is this user, provided that we have the right. */
	bool groups_anyway;
	/** The folder that stands for "/" for /etc/passwd and /etc/group; NULL: "/" itself. */
	const char *root;
};

struct wishes {
	/** wishes_read() has filled this struct. */
	bool any;
	/** "--user=app", for messages; NULL: none is requested, and the ids below are the current ones. */
	const char *user_from;
	uint32_t uid;
	uint32_t gid;
	/** Whether to set the supplementary groups to `groups`; else they stay as they are. */
	bool change_groups;
	const uint32_t *groups;
	uint32_t n_groups;
	/** "--groups=init", for messages; NULL: the groups follow from the user. */
	const char *groups_from;
	/** Whether a user is requested, not only a group. */
	bool has_user;
	/** The name of the requested user; NULL: /etc/passwd has no line for the uid. */
	const char *name;
	/** The home of the requested user; "/" if /etc/passwd has none. */
	const char *home;
	/** The name and home of the current user; NULL: /etc/passwd has no line for the uid. */
	const char *name_now;
	const char *home_now;
	/** Capabilities to drop; none of them is in `keep`. */
	uint64_t drop;
	uint64_t keep;
	/** "--cap-drop" and "--cap-keep", for messages. */
	const char *drop_from;
	const char *keep_from;
	bool no_new_privs;
};

/**
 * Read @options, at least one of which is set. @now: our current credentials.
 * Returns 0; -EINVAL for a wrong or unknown value; or the error of reading /etc/passwd or
 * /etc/group. (A missing file is not an error.)
 */
int wishes_read(struct arena *arena, const struct priv_options *options, const struct credentials *now,
		struct notes *notes, struct wishes *out, struct err *err);
