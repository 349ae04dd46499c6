// SPDX-License-Identifier: Apache-2.0

#include "priv/users.h"

#include "check.h"
#include "fixture.h"

static struct arena arena;

static void check_user(const char *line, const char *want) {
	struct user user;
	struct buf got = BUF(&arena);
	if (user_read(str_of(line), &user)) {
		buf_putf(&got, "%.*s %u %u %.*s", (int)user.name.len, user.name.p, user.uid, user.gid,
			 (int)user.home.len, user.home.p);
	}
	check_text(buf_text(&got), want, "user '%s'", line);
}

static void check_group(const char *line, const char *want) {
	struct group group;
	struct buf got = BUF(&arena);
	if (group_read(str_of(line), &group)) {
		buf_putf(&got, "%.*s %u %.*s", (int)group.name.len, group.name.p, group.gid,
			 (int)group.members.len, group.members.p);
	}
	check_text(buf_text(&got), want, "group '%s'", line);
}

static const char groups[] = "root:x:0:\n"
			     "# a comment: app\n"
			     "video:x:44:app,other\n"
			     "wheel:x:10:other , app\n"
			     "again:x:44:app\n"
			     "apps:x:45:apple,xapp\n"
			     "broken:x:4294967295:app\n"
			     "+:::\n"
			     "app:x:1000:app\n"
			     "last:x:7:app";

static void check_groups_of(const char *name, uint32_t gid, const char *want) {
	uint32_t *list;
	struct buf got = BUF(&arena);
	uint32_t n = groups_of(&arena, STR(groups), str_of(name), gid, &list);
	for (uint32_t i = 0; i < n; i++) {
		buf_putf(&got, "%s%u", i ? " " : "", list[i]);
	}
	check_text(buf_text(&got), want, "groups of '%s', %u", name, gid);
}

static void check_lookups(void) {
	static const char passwd[] = "root:x:0:0:root:/root:/bin/sh\n"
				     "\n"
				     "bad line\n"
				     "app:x:1000:1000::/home/app:/bin/sh\n"
				     "app:x:2000:2000::/home/second:/bin/sh\n"
				     "alias:x:1000:5::/home/alias:\n"
				     "1234:x:77:77::/:\n"
				     "crlf:x:5:6::/home/crlf:/bin/sh\r\n"
				     "end:x:8:9";
	struct user user = {.uid = 7};
	check(user_by_name(STR(passwd), STR("app"), &user) && user.uid == 1000);
	check(user_by_uid(STR(passwd), 1000, &user) && str_is(user.name, "app"));
	check(user_by_uid(STR(passwd), 0, &user) && str_is(user.home, "/root"));
	check(user_by_name(STR(passwd), STR("1234"), &user) && user.uid == 77);
	check(user_by_name(STR(passwd), STR("crlf"), &user) && str_is(user.home, "/home/crlf"));
	check(user_by_name(STR(passwd), STR("end"), &user) && user.gid == 9 && user.home.len == 0);
	check(!user_by_name(STR(passwd), STR("ap"), &user) && user.uid == 8);
	check(!user_by_name(STR(passwd), STR(""), &user));
	check(!user_by_name(STR(""), STR("app"), &user));
	check(!user_by_uid(STR(passwd), 1, &user));

	struct group group;
	check(group_by_name(STR(groups), STR("video"), &group) && group.gid == 44);
	check(group_by_name(STR(groups), STR("last"), &group) && group.gid == 7);
	check(!group_by_name(STR(groups), STR("broken"), &group));

	struct nearest best = {.word = STR("appp")};
	users_nearest(&arena, STR(passwd), &best);
	check_text(best.found, "app", "the nearest user");
	best = (struct nearest){.word = STR("vidoe")};
	users_nearest(&arena, STR(groups), &best);
	check_text(best.found, "video", "the nearest group");
}

int main(void) {
	arena = fixture_arena();

	check_user("root:x:0:0:root:/root:/bin/sh", "root 0 0 /root");
	check_user("app:x:1000:1001:a, b:/home/app", "app 1000 1001 /home/app");
	check_user("app::1:2", "app 1 2 ");
	check_user("app:x:1:2:::", "app 1 2 ");
	check_user("a:x:4294967294:4294967294::/:/s:more", "a 4294967294 4294967294 /");
	check_user("a:x:4294967295:0::/:", "");
	check_user("a:x:0:4294967295::/:", "");
	check_user("a:x:4294967296:0::/:", "");
	check_user("a:x:18446744073709551616:0::/:", "");
	check_user("a:x:-1:0::/:", "");
	check_user("a:x: 1:0::/:", "");
	check_user("a:x:1000abc:0::/:", "");
	check_user("a:x::0::/:", "");
	check_user("a:x:1", "");
	check_user(":x:1:1::/:", "");
	check_user("#a:x:1:1::/:", "");
	check_user("+:x:1:1::/:", "");
	check_user("-a:x:1:1::/:", "");
	check_user("", "");
	check_user("::::::", "");

	check_group("video:x:44:", "video 44 ");
	check_group("video:x:44:a,b", "video 44 a,b");
	check_group("video:x:44", "video 44 ");
	check_group("video:x:44:a,b\r", "video 44 a,b");
	check_group("video:x", "");
	check_group("video:x::a", "");
	check_group("video:x:0x1:a", "");
	check_group(":x:1:a", "");

	check_lookups();
	check_groups_of("app", 1000, "1000 44 10 7");
	check_groups_of("app", 44, "44 10 1000 7");
	check_groups_of("other", 3, "3 44 10");
	check_groups_of("nobody", 65534, "65534");
	check_groups_of("", 5, "5");

	arena_done(&arena);
	return check_done();
}
