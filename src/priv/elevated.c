// SPDX-License-Identifier: Apache-2.0

#include "priv/elevated.h"

#include <errno.h>
#include <linux/securebits.h>
#include <sys/auxv.h>

bool elevated_by_file(const struct credentials *c) {
	bool root = c->uid[ID_REAL] == 0 || c->uid[ID_EFFECTIVE] == 0;
	return (!root || (c->securebits & SECBIT_NOROOT)) && (c->caps.permitted & ~c->caps.ambient);
}

/** The file's capabilities are there for --cap-keep, and for nothing else. */
static int lower(struct arena *arena, struct err *err) {
	struct credentials now;
	int r = credentials_read(arena, &now, err);
	if (r < 0 || !elevated_by_file(&now)) {
		return r;
	}
	r = caps_write(now.caps.ambient, now.caps.permitted, now.caps.inheritable);
	return r < 0 ? err_set(err, -r, "the capabilities of this program's file cannot be put away: %s",
			       strerror(-r))
		     : 0;
}

int elevated_check(struct arena *arena, struct err *err) {
	unsigned long uid = getauxval(AT_UID), euid = getauxval(AT_EUID);
	unsigned long gid = getauxval(AT_GID), egid = getauxval(AT_EGID);
	if (uid != euid) {
		return err_set(
			err, EPERM,
			"the real user, uid %lu, and the effective one, uid %lu, differ: this program is "
			"setuid, or a program that is has started it, and it would hand the rights of one "
			"to the other; chmod u-s, or change both before",
			uid, euid);
	}
	if (gid != egid) {
		return err_set(
			err, EPERM,
			"the real group, gid %lu, and the effective one, gid %lu, differ: this program "
			"is setgid, or a program that is has started it, and it would hand the rights of "
			"one to the other; chmod g-s, or change both before",
			gid, egid);
	}
	return getauxval(AT_SECURE) ? lower(arena, err) : 0;
}
