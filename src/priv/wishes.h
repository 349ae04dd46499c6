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
	/** Set the user's groups, if we may, even if the process already is this user. */
	bool groups_anyway;
	/** The directory that stands for "/" when the files are looked up; NULL: "/" itself. */
	const char *root;
};

struct wishes {
	/** Whether they were read. */
	bool any;
	/** "--user=app", for messages; NULL: none is requested, and the ids below are the current ones. */
	const char *user_from;
	uint32_t uid;
	uint32_t gid;
	/** Whether the supplementary groups become these; otherwise they stay. */
	bool change_groups;
	const uint32_t *groups;
	uint32_t n_groups;
	/** "--groups=init", for messages; NULL: the groups follow from the user. */
	const char *groups_from;
	/** Whether a user is requested, not only a group. */
	bool has_user;
	/** The name of the requested user; NULL: it has none in /etc/passwd. */
	const char *name;
	/** Its home; "/" if /etc/passwd has none. */
	const char *home;
	/** The name and home of the current user; NULL: not in /etc/passwd. */
	const char *name_now;
	const char *home_now;
	/** Capabilities to drop, never one of `keep`. */
	uint64_t drop;
	uint64_t keep;
	const char *drop_from;
	const char *keep_from;
	bool no_new_privs;
};

/**
 * Read @options, of which one at least is set. @now: our current credentials.
 * Returns 0; -EINVAL for wrong or unknown values; or the error of reading /etc/passwd or
 * /etc/group. (A missing file is not an error.)
 */
int wishes_read(struct arena *arena, const struct priv_options *options, const struct credentials *now,
		struct notes *notes, struct wishes *out, struct err *err);
