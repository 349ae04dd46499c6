// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Finds users and groups in the texts of /etc/passwd and /etc/group, passwd(5) and group(5).
 *
 * getpwnam() is no use here, because it reads only below the host's root. musl's also asks a name
 * service through a socket, and glibc's depends on the image. Invalid lines (comments, NIS's '+', invalid
 * ids) are skipped, as in libc. If a name or an id appears twice, the first line counts.
 */

#include "base/arena.h"
#include "base/nearest.h"

#include <stdint.h>

/** Ids range from 0 to UINT32_MAX - 1: UINT32_MAX means "unchanged" to the kernel. */
struct user {
	struct str name;
	uint32_t uid;
	/** The login group. */
	uint32_t gid;
	/** "" if the line has none. */
	struct str home;
};

struct group {
	struct str name;
	uint32_t gid;
	/** Names joined by commas. */
	struct str members;
};

/** Read one line. Returns whether it is valid; otherwise *@out is unchanged. */
bool user_read(struct str line, struct user *out);
bool group_read(struct str line, struct group *out);

/** Find a user in the text of a passwd file. */
bool user_by_name(struct str passwd, struct str name, struct user *out);
bool user_by_uid(struct str passwd, uint32_t uid, struct user *out);

/** Find a group in the text of a group file. */
bool group_by_name(struct str groups, struct str name, struct group *out);

/**
 * List the groups of the user @name in *@out, in the arena: first @gid, then the groups that have @name
 * as a member, in the order of the file, each group once. Returns their number.
 */
uint32_t groups_of(struct arena *arena, struct str groups, struct str name, uint32_t gid, uint32_t **out);

/** Compare each name in @file, the first field of a passwd or group file, with the mistyped one in @best. */
void users_nearest(struct arena *arena, struct str file, struct nearest *best);
