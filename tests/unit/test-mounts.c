// SPDX-License-Identifier: Apache-2.0

#include "srun/mounts.h"

#include "check.h"
#include "fixture.h"

#include <errno.h>

static struct arena arena;

static const char *join(const struct mounts *mounts) {
	struct buf got = BUF(&arena);
	for (size_t i = 0; i < mounts->n; i++) {
		const struct mount *m = &mounts->at[i];
		buf_putf(&got, "%s%s>%s%s", i ? " " : "", m->source, m->target, m->read_only ? "!" : "");
	}
	return buf_text(&got);
}

/** Add the site's and the user's list, and show what came of them; or the message. */
static void check_lists(const char *site, const char *user, const char *want) {
	struct mounts mounts = {.arena = &arena};
	struct err err = {""};
	int r = mounts_add(&mounts, "MOUNT_DIRS", str_of(site), &err);
	r = r < 0 ? r : mounts_add(&mounts, "--mount-dirs", str_of(user), &err);
	check_text(r < 0 ? err.text : join(&mounts), want, "<%s> and <%s>", site, user);
	checkf(r == 0 || r == -EINVAL, "<%s> and <%s> return %d", site, user, r);
}

static void test_lists(void) {
	check_lists("", "", "");
	check_lists(",,", " ", "");
	check_lists("/data/,/home/", "", "/data>/data /home>/home");
	check_lists("/data,", ",/lab", "/data>/data /lab>/lab");
	check_lists("/data", "/data/,/data", "/data>/data");
	check_lists("/a//b/", "", "/a/b>/a/b");
	check_lists("/", "", "/>/");
	check_lists("/a:/b", "/a", "/a>/b /a>/a");
	check_lists("/a:/b:ro", "/c:/d:rw", "/a>/b! /c>/d");
	check_lists("/a:/a:ro", "/a", "/a>/a");
	check_lists("/a:/a:ro", "/a:/a/:ro", "/a>/a!");

	check_lists("data", "", "MOUNT_DIRS: 'data' is not an absolute path such as '/data'");
	check_lists("", "./x", "--mount-dirs: './x' is not an absolute path such as '/data'");
	check_lists("/a:", "", "MOUNT_DIRS: '' is not an absolute path such as '/data'");
	check_lists("/a:b", "", "MOUNT_DIRS: 'b' is not an absolute path such as '/data'");
	check_lists("/a:/b:rx", "",
		    "MOUNT_DIRS: '/a:/b:rx': expected SOURCE, SOURCE:TARGET or SOURCE:TARGET:ro");
	check_lists("/a:/b:ro:x", "",
		    "MOUNT_DIRS: '/a:/b:ro:x': expected SOURCE, SOURCE:TARGET or SOURCE:TARGET:ro");
	check_lists("/a:/x", "/b:/x",
		    "--mount-dirs: '/b' and '/a' (MOUNT_DIRS) cannot both be mounted at '/x'");
}

static void test_one(void) {
	struct mounts mounts = {.arena = &arena};
	struct err err = {""};
	struct mount mount = {"/a,b", "/x", true, "distinit"};
	checkf(mounts_add_one(&mounts, &mount, &err) == -EINVAL, "a ',' in a path");
	check_text(err.text, "distinit: '/a,b': container runtimes cannot mount a path with a ',' or ':'",
		   "a ',' in a path");
	for (int i = 0; i < 20; i++) {
		mount.source = mount.target = arena_format(&arena, "/d%d", i);
		checkf(mounts_add_one(&mounts, &mount, &err) == 0, "%d: %s", i, err.text);
	}
	checkf(mounts.n == 20, "all are there: %u", mounts.n);
	check_text(mounts.at[19].source, "/d19", "in their order");
}

static void check_inside(const char *list, const char *path, const char *want) {
	struct mounts mounts = {.arena = &arena};
	struct err err = {""};
	if (checkf(mounts_add(&mounts, "X", str_of(list), &err) == 0, "<%s>: %s", list, err.text)) {
		check_text(mounts_inside(&mounts, path), want, "%s with <%s>", path, list);
	}
}

static void test_inside(void) {
	check_inside("", "/a", NULL);
	check_inside("/data", "/data", "/data");
	check_inside("/data", "/data/x/y", "/data/x/y");
	check_inside("/data", "/database", NULL);
	check_inside("/data:/mnt", "/data/x", "/mnt/x");
	check_inside("/data:/mnt,/data/x:/x", "/data/x/y", "/x/y");
	check_inside("/:/host", "/a", "/host/a");
	check_inside("/a:/", "/a/b", "/b");
}

static void test_check(void) {
	struct mounts mounts = {.arena = &arena};
	struct err err = {""};
	check(mounts_add(&mounts, "MOUNT_DIRS", STR("/,/nonexistent/a"), &err) == 0);
	checkf(mounts_check(&mounts, &err) == -ENOENT, "a folder that is not there");
	check_text(err.text, "MOUNT_DIRS: '/nonexistent/a' cannot be mounted: No such file or directory",
		   "is named");
	mounts.n = 1;
	checkf(mounts_check(&mounts, &err) == 0, "one that is");
}

int main(void) {
	arena = fixture_arena();
	test_lists();
	test_one();
	test_inside();
	test_check();
	arena_done(&arena);
	return check_done();
}
