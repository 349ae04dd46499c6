// SPDX-License-Identifier: Apache-2.0

/**
 * Files of users and groups. The input is a name, a line break, a file of users, a NUL, and a file
 * of groups. A user that is found has a line, and that line alone is enough to find it.
 */

#include "priv/users.h"

#include "fuzz.h"

#define INPUT_MAX 4096

static bool same_user(const struct user *a, const struct user *b) {
	return str_eq(a->name, b->name) && a->uid == b->uid && a->gid == b->gid && str_eq(a->home, b->home);
}

/** The first line of this user. */
static bool find_again(struct str passwd, const struct user *found) {
	struct str line;
	struct user user;
	while (str_cut(&passwd, '\n', &line)) {
		if (user_read(line, &user) && str_eq(user.name, found->name)) {
			return same_user(&user, found);
		}
	}
	return false;
}

static void check_users(struct str passwd, struct str name) {
	struct user user, again;
	if (!user_by_name(passwd, name, &user)) {
		return;
	}
	HOLDS(str_eq(user.name, name) && name.len > 0);
	HOLDS(user.uid != UINT32_MAX && user.gid != UINT32_MAX);
	HOLDS(find_again(passwd, &user));
	HOLDS(user_by_uid(passwd, user.uid, &again) && again.uid == user.uid);
}

static void check_groups(struct arena *arena, struct str groups, struct str name) {
	struct group group;
	uint32_t *list = NULL;
	uint32_t n = groups_of(arena, groups, name, 7, &list);
	HOLDS(n >= 1 && list[0] == 7);
	for (uint32_t i = 0; i < n; i++) {
		HOLDS(list[i] != UINT32_MAX);
		for (uint32_t j = 0; j < i; j++) {
			HOLDS(list[i] != list[j]);
		}
	}
	HOLDS(!group_by_name(groups, name, &group) || str_eq(group.name, name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct str rest = {(const char *)data, size}, name, passwd;
	if (size > INPUT_MAX || !str_cut(&rest, '\n', &name) || !str_cut(&rest, '\0', &passwd)) {
		return 0;
	}
	struct arena arena = fuzz_arena();
	struct nearest best = {.word = name};
	check_users(passwd, name);
	check_groups(&arena, rest, name);
	users_nearest(&arena, passwd, &best);
	arena_done(&arena);
	return 0;
}
