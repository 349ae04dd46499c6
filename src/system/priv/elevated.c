// SPDX-License-Identifier: Apache-2.0

#include "priv/elevated.h"

#include <errno.h>
#include <linux/securebits.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

bool elevated_by_file(const struct credentials *c) {
	bool root = c->uid[ID_REAL] == 0 || c->uid[ID_EFFECTIVE] == 0;
	return (!root || (c->securebits & SECBIT_NOROOT)) && (c->caps.permitted & ~c->caps.ambient);
}

/** Make capabilities of our own file ineffective; they stay permitted, for --cap-keep. */
static int lower(struct arena *arena, struct err *err) {
	struct credentials now;
	int r = credentials_read(arena, &now, err);
	if (r < 0 || !elevated_by_file(&now)) {
		return r;
	}
	r = caps_write(now.caps.ambient, now.caps.permitted, now.caps.inheritable);
	return r < 0 ? err_set(err, -r, "the capabilities cannot be set: %s", strerror(-r)) : 0;
}

/** Refuse a real id that differs from the effective one. */
static int check_same(const char *what, unsigned long real, unsigned long effective, struct err *err) {
	return real == effective ? 0
				 : err_set(err, EPERM,
					   "the real %s %lu and the effective %s %lu differ: a setuid or "
					   "setgid program would give its rights to any user; remove that "
					   "bit from its file (chmod ug-s)",
					   what, real, what, effective);
}

int elevated_check(struct arena *arena, struct err *err) {
	int r = check_same("uid", getauxval(AT_UID), getauxval(AT_EUID), err);
	r = r < 0 ? r : check_same("gid", getauxval(AT_GID), getauxval(AT_EGID), err);
	return r == 0 && getauxval(AT_SECURE) ? lower(arena, err) : r;
}

int elevated_lower_root(struct arena *arena, struct err *err) {
	int bits = getauxval(AT_UID) == 0 ? prctl(PR_GET_SECUREBITS) : 0;
	return bits > 0 && (bits & SECBIT_NOROOT) ? lower(arena, err) : 0;
}
