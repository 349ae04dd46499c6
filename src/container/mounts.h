// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The folders that a container gets from the host: lists of SOURCE[:TARGET[:ro|rw]], joined by commas, as Singularity reads them. */

#include "base/arena.h"
#include "base/err.h"

struct mount {
	/** On the host, and in the container: absolute, without a '/' at the end. */
	const char *source;
	const char *target;
	bool read_only;
	/** Who asked for it, for messages. */
	const char *from;
};

struct mounts {
	struct arena *arena;
	/** `n` of them, in the order in which they were first told, and room for `cap`. */
	struct mount *at;
	size_t n;
	size_t cap;
};

/**
 * Add the folders of @list; empty pieces are skipped, and what is there already is not added again. @from names the list in messages.
 * Returns 0; -EINVAL for a path that is not absolute, an option that is neither ro nor rw, or a target that has another source already.
 */
int mounts_add(struct mounts *mounts, const char *from, struct str list, struct err *err);

/** Add one, of paths that may have anything in them but ',' and ':'. Returns 0; -EINVAL. */
int mounts_add_one(struct mounts *mounts, const struct mount *mount, struct err *err);

/** Returns 0 if all sources are there; or the negative errno of the first that is not, named in @err. */
int mounts_check(const struct mounts *mounts, struct err *err);

/** Where the absolute @path of the host is seen in the container, in the arena; NULL: nowhere. */
const char *mounts_inside(const struct mounts *mounts, const char *path);
