// SPDX-License-Identifier: Apache-2.0

#include "priv/users.h"

#include "base/num.h"

/** The fields of a line: passwd(5) has seven, group(5) four. Further fields are ignored. */
#define FIELDS 7

/** Cut @line at its colons. Returns the number of fields, at most FIELDS. */
static unsigned cut_fields(struct str line, struct str fields[FIELDS]) {
	unsigned n = 0;
	if (line.len && line.p[line.len - 1] == '\r') {
		line.len--;
	}
	while (n < FIELDS && str_cut(&line, ':', &fields[n])) {
		n++;
	}
	return n;
}

/** Whether @name can be a user's or group's. Numbers are accepted: some files use them as names. */
static bool is_name(struct str name) {
	return name.len && name.p[0] != '#' && name.p[0] != '+' && name.p[0] != '-' &&
	       !memchr(name.p, '\0', name.len);
}

bool user_read(struct str line, struct user *out) {
	struct str f[FIELDS];
	struct user user = {.home = STR("")};
	unsigned n = cut_fields(line, f);
	if (n < 4 || !is_name(f[0]) || num_read_u32(f[2], &user.uid) < 0 ||
	    num_read_u32(f[3], &user.gid) < 0) {
		return false;
	}
	user.name = f[0];
	if (n > 5 && !memchr(f[5].p, '\0', f[5].len)) {
		user.home = f[5];
	}
	*out = user;
	return true;
}

bool group_read(struct str line, struct group *out) {
	struct str f[FIELDS];
	struct group group = {.members = STR("")};
	unsigned n = cut_fields(line, f);
	if (n < 3 || !is_name(f[0]) || num_read_u32(f[2], &group.gid) < 0) {
		return false;
	}
	group.name = f[0];
	if (n > 3) {
		group.members = f[3];
	}
	*out = group;
	return true;
}

/** Find by @name; or by @uid, if the p of @name is NULL. */
static bool find_user(struct str passwd, struct str name, uint32_t uid, struct user *out) {
	struct str line;
	struct user user;
	while (str_cut(&passwd, '\n', &line)) {
		if (user_read(line, &user) && (name.p ? str_eq(user.name, name) : user.uid == uid)) {
			*out = user;
			return true;
		}
	}
	return false;
}

bool user_by_name(struct str passwd, struct str name, struct user *out) {
	return find_user(passwd, name, 0, out);
}

bool user_by_uid(struct str passwd, uint32_t uid, struct user *out) {
	return find_user(passwd, (struct str){NULL, 0}, uid, out);
}

bool group_by_name(struct str groups, struct str name, struct group *out) {
	struct str line;
	struct group group;
	while (str_cut(&groups, '\n', &line)) {
		if (group_read(line, &group) && str_eq(group.name, name)) {
			*out = group;
			return true;
		}
	}
	return false;
}

static bool has_member(struct str members, struct str name) {
	struct str member;
	while (str_cut(&members, ',', &member)) {
		if (name.len && str_eq(str_trim(member), name)) {
			return true;
		}
	}
	return false;
}

static bool is_listed(const uint32_t *list, uint32_t n, uint32_t gid) {
	for (uint32_t i = 0; i < n; i++) {
		if (list[i] == gid) {
			return true;
		}
	}
	return false;
}

uint32_t groups_of(struct arena *arena, struct str groups, struct str name, uint32_t gid, uint32_t **out) {
	struct str rest = groups, line;
	struct group group;
	uint32_t most = 1, n = 0;
	while (str_cut(&rest, '\n', &line)) {
		most += group_read(line, &group) && has_member(group.members, name);
	}
	uint32_t *list = arena_array(arena, most, sizeof(*list));
	list[n++] = gid;
	rest = groups;
	while (str_cut(&rest, '\n', &line)) {
		if (group_read(line, &group) && has_member(group.members, name) &&
		    !is_listed(list, n, group.gid)) {
			list[n++] = group.gid;
		}
	}
	*out = list;
	return n;
}

void users_nearest(struct arena *arena, struct str file, struct nearest *best) {
	struct str line, name;
	while (str_cut(&file, '\n', &line)) {
		// A much longer name is never the nearest, so it is not copied.
		if (str_cut(&line, ':', &name) && is_name(name) && name.len < 2 * best->word.len + 2) {
			nearest_try(best, arena_text(arena, name.p, name.len));
		}
	}
}
