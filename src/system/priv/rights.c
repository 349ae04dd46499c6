// SPDX-License-Identifier: Apache-2.0

#include "priv/rights.h"

#include <errno.h>
#include <grp.h>
#include <sys/fsuid.h>

static bool same_groups(const struct credentials *a, const struct credentials *b) {
	return groups_are(a->groups, a->n_groups, b->groups, b->n_groups, UINT32_MAX);
}

/**
 * Take the ids and groups of @to. setfsuid() does not report failure, so read the ids back: with an invalid id, it
 * returns the current one. Returns 0 or a negative errno.
 */
static int set_ids(const struct credentials *from, const struct credentials *to) {
	uint32_t uid = to->uid[ID_EFFECTIVE], gid = to->gid[ID_EFFECTIVE];
	if (!same_groups(from, to) && setgroups(to->n_groups, to->groups) < 0) {
		return -errno;
	}
	setfsgid(gid);
	setfsuid(uid);
	return (uint32_t)setfsgid(UINT32_MAX) == gid && (uint32_t)setfsuid(UINT32_MAX) == uid ? 0 : -EPERM;
}

/** Change from the ids and groups of @from to those of @to. @have: our capabilities, in either state. */
static int change_ids(const struct credentials *have, const struct credentials *from,
		      const struct credentials *to, struct err *err) {
	uint64_t permitted = have->caps.permitted, inheritable = have->caps.inheritable;
	// Changing ids needs effective capabilities.
	int r = caps_write(permitted, permitted, inheritable);
	r = r < 0 ? r : set_ids(from, to);
	r = r < 0 ? r : caps_write(to->caps.effective & permitted, permitted, inheritable);
	return r < 0 ? err_set(err, -r, "the rights of uid %u, gid %u cannot be taken: %s",
			       to->uid[ID_EFFECTIVE], to->gid[ID_EFFECTIVE], strerror(-r))
		     : 0;
}

int rights_lower(const struct credentials *now, const struct credentials *to, struct err *err) {
	return change_ids(now, now, to, err);
}

int rights_restore(const struct credentials *now, const struct credentials *to, struct err *err) {
	return change_ids(now, to, now, err);
}
