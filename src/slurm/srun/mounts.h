// SPDX-License-Identifier: Apache-2.0
#pragma once

/** The host's folders to mount in a container: SOURCE[:TARGET[:ro|rw]], joined by commas, as in Singularity. */

#include "base/arena.h"
#include "base/err.h"

struct mount {
	/** The folder on the host, and its path in the container: absolute, without a '/' at the end. */
	const char *source;
	const char *target;
	bool read_only;
	/** The option, variable or file that names the folder, for messages. */
	const char *from;
};

struct mounts {
	struct arena *arena;
	/** `n` entries, in the order in which they were added, and room for `cap`. */
	struct mount *at;
	uint32_t n;
	uint32_t cap;
};

/**
 * Add the folders of @list. Skip empty pieces, and mounts that were added already. @from names the list in
 * messages.
 * Returns 0; -EINVAL for a path that is not absolute, an option other than ro and rw, or a target
 * that already has another source.
 */
int mounts_add(struct mounts *mounts, const char *from, struct str list, struct err *err);

/** Add @mount, whose paths may contain any bytes except ',' and ':'. Returns 0 or -EINVAL. */
int mounts_add_one(struct mounts *mounts, const struct mount *mount, struct err *err);

/** Check that all sources exist. Returns 0; or the negative errno of the first that does not. */
int mounts_check(const struct mounts *mounts, struct err *err);

/** Translate @path, absolute on the host, to the path in the container, in the arena; NULL: it is not mounted. */
const char *mounts_inside(const struct mounts *mounts, const char *path);
