// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Users and groups in the texts of /etc/passwd and /etc/group, passwd(5) and group(5).
 *
 * Not by getpwnam(): it reads the files of the host's root only, musl's then asks a name service by a socket, and what glibc's asks depends on
 * the image. A line that is none of the form (a comment, NIS's '+', a number that is no id) is skipped, as libc does; of doubled
 * names and ids the first line counts.
 */

#include "base/arena.h"
#include "base/nearest.h"

#include <stdint.h>

/** Ids go from 0 to UINT32_MAX - 1: the last means "unchanged" to the kernel. */
struct user {
	struct str name;
	uint32_t uid;
	/** The login group. */
	uint32_t gid;
	/** "" where the line has none. */
	struct str home;
};

struct group {
	struct str name;
	uint32_t gid;
	/** Names joined by commas. */
	struct str members;
};

/** Read one line. Returns whether it is one of the form; *@out is untouched otherwise. */
bool user_read(struct str line, struct user *out);
bool group_read(struct str line, struct group *out);

/** Find a user in the text of a passwd file. */
bool user_by_name(struct str passwd, struct str name, struct user *out);
bool user_by_uid(struct str passwd, uint32_t uid, struct user *out);

/** Find a group in the text of a group file. */
bool group_by_name(struct str groups, struct str name, struct group *out);

/**
 * List the groups of the user @name into *@out, in the arena: @gid first, then those that name it as a member, in the file's
 * order, each once. Returns how many.
 */
uint32_t groups_of(struct arena *arena, struct str groups, struct str name, uint32_t gid, uint32_t **out);

/** Try every name of such a file as the one that was meant. (The name is the first field of both.) */
void users_nearest(struct arena *arena, struct str file, struct nearest *best);
