// SPDX-License-Identifier: Apache-2.0

#include "priv/credentials.h"

#include <errno.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <unistd.h>

static int read_groups(struct arena *arena, struct credentials *out) {
	int n = getgroups(0, NULL);
	uint32_t *list = arena_array(arena, n > 0 ? (size_t)n : 1, sizeof(*list));
	n = n > 0 ? getgroups(n, list) : n;
	if (n < 0) {
		return -errno;
	}
	out->groups = list;
	out->n_groups = (uint32_t)n;
	return 0;
}

int credentials_read(struct arena *arena, struct credentials *out, struct err *err) {
	struct credentials c = {0};
	int r = getresuid(&c.uid[0], &c.uid[1], &c.uid[2]) < 0 ||
				getresgid(&c.gid[0], &c.gid[1], &c.gid[2]) < 0
			? -errno
			: read_groups(arena, &c);
	if (r < 0) {
		return err_set(err, -r, "the ids of this process cannot be read: %s", strerror(-r));
	}
	r = caps_read(&c.caps, &c.caps_known, err);
	if (r < 0) {
		return r;
	}
	int bits = prctl(PR_GET_SECUREBITS);
	c.securebits = bits > 0 ? (unsigned)bits : 0;
	c.no_new_privs = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
	*out = c;
	return 0;
}

bool ids_are(const uint32_t ids[N_IDS], uint32_t id) {
	return ids[ID_REAL] == id && ids[ID_EFFECTIVE] == id && ids[ID_SAVED] == id;
}

/** Whether each group of @a, except @gid, is in @b. */
static bool is_part(const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b, uint32_t gid) {
	for (uint32_t i = 0; i < n_a; i++) {
		uint32_t j = 0;
		while (j < n_b && b[j] != a[i]) {
			j++;
		}
		if (j == n_b && a[i] != gid) {
			return false;
		}
	}
	return true;
}

bool groups_are(const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b, uint32_t gid) {
	return is_part(a, n_a, b, n_b, gid) && is_part(b, n_b, a, n_a, gid);
}

/** See capabilities(7), "Transformation of capabilities during execve()". */
uint64_t credentials_after_exec(const struct credentials *c) {
	bool root = c->uid[ID_REAL] == 0 || c->uid[ID_EFFECTIVE] == 0;
	if (!root || (c->securebits & SECBIT_NOROOT)) {
		return c->caps.ambient;
	}
	uint64_t gained = c->caps.bounding | c->caps.inheritable;
	// With no_new_privs, even root does not gain capabilities.
	uint64_t permitted = c->no_new_privs ? gained & c->caps.permitted : gained;
	return c->uid[ID_EFFECTIVE] == 0 ? permitted | c->caps.ambient : c->caps.ambient;
}
