// SPDX-License-Identifier: Apache-2.0

/**
 * Tests privileges without having any: what is planned from given credentials, and what is refused.
 */

#include "priv/plan.h"

#include "check.h"
#include "fixture.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/stat.h>
#include <unistd.h>

#define KNOWN	((uint64_t)0x1ffffffffff)
#define USUAL	((uint64_t)0xa80425fb)
#define IPC	CAP_BIT(CAP_IPC_LOCK)
#define SETPCAP CAP_BIT(CAP_SETPCAP)

static struct arena arena;
static struct notes notes;
/** A folder with etc/passwd and etc/group. */
static char root[] = "/tmp/test-plan.XXXXXX";

static void write_file(const char *name, const char *text) {
	FILE *file = fopen(arena_format(&arena, "%s/etc/%s", root, name), "w");
	if (check(file != NULL)) {
		(void)fputs(text, file);
		(void)fclose(file);
	}
}

/** Root, in a container that has @caps. */
static struct credentials root_with(uint64_t caps) {
	return (struct credentials){
		.caps = {.effective = caps, .permitted = caps, .bounding = caps},
		.caps_known = KNOWN,
	};
}

/** A user in a container, with the container's capabilities only in the bounding set. */
static struct credentials user_with(uint32_t id, uint64_t bounding) {
	return (struct credentials){
		.uid = {id, id, id},
		.gid = {id, id, id},
		.caps = {.bounding = bounding},
		.caps_known = KNOWN,
	};
}

struct options {
	const char *user, *groups, *drop, *keep;
	bool nnp;
};

static struct wishes wishes;

static int read_wishes(const struct options *o, const struct credentials *now, struct err *err) {
	struct priv_options options = {
		.user = {o->user, "--user"},
		.groups = {o->groups, "--groups"},
		.cap_drop = {o->drop, "--cap-drop"},
		.cap_keep = {o->keep, "--cap-keep"},
		.no_new_privs = o->nnp,
		.root = root,
	};
	notes = (struct notes){.arena = &arena};
	return wishes_read(&arena, &options, now, &notes, &wishes, err);
}

/** The resulting user: "uid gid, groups or 'stay', name, home". */
static void check_ids(const char *user, const char *groups, const struct credentials *now, const char *want) {
	struct err err = {""};
	struct buf got = BUF(&arena);
	if (read_wishes(&(struct options){.user = user, .groups = groups}, now, &err) < 0) {
		buf_puts(&got, err.text);
	} else {
		buf_putf(&got, "%u %u,", wishes.uid, wishes.gid);
		for (uint32_t i = 0; i < wishes.n_groups && wishes.change_groups; i++) {
			buf_putf(&got, " %u", wishes.groups[i]);
		}
		buf_putf(&got, "%s, %s %s%s%s",
			 !wishes.change_groups ? " stay"
			 : wishes.n_groups     ? ""
					       : " none",
			 wishes.name ? wishes.name : "-", wishes.home ? wishes.home : "-",
			 notes.first ? "; " : "", fixture_notes(&notes));
	}
	const char *text = buf_text(&got);
	// Messages name the files under the folder.
	for (char *at; (at = strstr(text, root)) != NULL;) {
		memmove(at, at + strlen(root), strlen(at + strlen(root)) + 1);
	}
	check_text(text, want, "--user=%s --groups=%s", user ? user : "-", groups ? groups : "-");
}

static void check_users(void) {
	struct credentials now = root_with(KNOWN);
	const uint32_t some[] = {7};
	now.groups = some;
	now.n_groups = 1;
	check_ids("app", NULL, &now, "1000 1000, 1000 44, app /home/app");
	check_ids("app:", NULL, &now, "1000 1000, 1000 44, app /home/app");
	check_ids("1000", NULL, &now, "1000 1000, 1000 44, app /home/app");
	check_ids("app:video", NULL, &now, "1000 44, none, app /home/app");
	check_ids("app:44", NULL, &now, "1000 44, none, app /home/app");
	check_ids("app:video", "init", &now, "1000 44, 44, app /home/app");
	check_ids("app", "keep", &now, "1000 1000, stay, app /home/app");
	check_ids("app", "none", &now, "1000 1000, none, app /home/app");
	check_ids("1235:5", NULL, &now, "1235 5, none, - /");
	check_ids("1234:5", NULL, &now,
		  "1234 5, none, - /; --user='1234:5': '1234' is taken as a number; the user of that name in "
		  "/etc/passwd is uid 77");
	check_ids(":video", NULL, &now, "0 44, none, - -");
	check_ids("homeless", NULL, &now, "3 4, 4, homeless /");
	check_ids("77", NULL, &now, "77 77, 77, 1234 /x");
	check_ids("1234", NULL, &now,
		  "1234 0, none, - /; --user='1234': '1234' is taken as a number; the user of that name in "
		  "/etc/passwd is uid 77; --user='1234' has no line in /etc/passwd, so its group is unknown, "
		  "and gid 0 stays; USER:GROUP sets one");
	check_ids(NULL, "none", &now, "0 0, none, - -");
	check_ids(NULL, "init", &now, "0 0, 0, - -");
	check_ids("root", NULL, &now, "0 0, stay, root /root");
	check_ids("0:0", NULL, &now, "0 0, stay, root /root");

	check_ids("1234:5", "init", &now,
		  "--groups=init: uid 1234 has no name in /etc/passwd, so /etc/group cannot list it; "
		  "--groups=none gives it no other groups");
	check_ids("aap", NULL, &now,
		  "--user='aap': there is no user 'aap' in /etc/passwd; did you mean 'app'?");
	check_ids("large", NULL, &now,
		  "--user='large': the uid or gid of its line in /etc/passwd is invalid");
	check_ids("app:none", NULL, &now, "--user='app:none': the gid of its line in /etc/group is invalid");
	check_ids("1000abc", NULL, &now, "--user='1000abc': there is no user '1000abc' in /etc/passwd");
	check_ids("-1", NULL, &now, "--user='-1': there is no user '-1' in /etc/passwd");
	check_ids("app:vide", NULL, &now,
		  "--user='app:vide': there is no group 'vide' in /etc/group; did you mean 'video'?");
	check_ids("app:video:x", NULL, &now,
		  "--user='app:video:x': there is no group 'video:x' in /etc/group; did you mean 'video'?");
	check_ids("4294967295", NULL, &now,
		  "--user='4294967295': '4294967295' is not a user id; the range is 0 to 4294967294");
	check_ids("0:99999999999999999999", NULL, &now,
		  "--user='0:99999999999999999999': '99999999999999999999' is not a group id; the range is 0 "
		  "to 4294967294");
	check_ids(":", NULL, &now, "--user=':': expected USER, USER:GROUP or :GROUP");
	check_ids("", NULL, &now, "--user='': expected USER, USER:GROUP or :GROUP");
	check_ids("app", "inti", &now,
		  "--groups='inti': expected one of init, keep, none; did you mean 'init'?");

	// If the process already is that user, nothing changes. The process's own group may be in
	// the list or not.
	now = user_with(1000, USUAL);
	check_ids("app", NULL, &now, "1000 1000, stay, app /home/app");
	check_ids("app", "init", &now, "1000 1000, 1000 44, app /home/app");
	check_ids("1000:1000", "none", &now, "1000 1000, stay, app /home/app");
	check_ids("app:video", NULL, &now, "1000 44, stay, app /home/app");
}

/** The plan: "steps; permitted bounding ambient; workload", sets in hexadecimal, or the error. */
static void check_plan(const char *name, struct options o, const struct credentials *now, const char *want) {
	struct err err = {""};
	struct priv_plan plan;
	struct buf got = BUF(&arena);
	int r = read_wishes(&o, now, &err);
	r = r < 0 ? r : priv_plan(&arena, &wishes, now, &notes, &plan, &err);
	if (r < 0) {
		buf_puts(&got, err.text);
	} else {
		buf_putf(&got, "%s%s%s%s%s; %lx %lx %lx; %lx%s%s", plan.set_groups ? "groups " : "",
			 plan.set_gid ? "gid " : "", plan.set_uid ? "uid " : "", plan.set_caps ? "caps " : "",
			 plan.set_no_new_privs ? "nnp " : "", (unsigned long)plan.target.caps.permitted,
			 (unsigned long)plan.target.caps.bounding, (unsigned long)plan.target.caps.ambient,
			 (unsigned long)plan.workload, notes.first ? "; " : "", fixture_notes(&notes));
	}
	check_text(buf_text(&got), want, "%s", name);
}

/** The resulting ids: all three uids, then gids. */
static void check_target(const char *name, struct options o, const struct credentials *now,
			 const char *want) {
	struct err err = {""};
	struct priv_plan plan;
	struct buf got = BUF(&arena);
	int r = read_wishes(&o, now, &err);
	r = r < 0 ? r : priv_plan(&arena, &wishes, now, &notes, &plan, &err);
	const uint32_t *uid = plan.target.uid, *gid = plan.target.gid;
	if (r < 0) {
		buf_puts(&got, err.text);
	} else {
		buf_putf(&got, "%u %u %u, %u %u %u", uid[0], uid[1], uid[2], gid[0], gid[1], gid[2]);
	}
	check_text(buf_text(&got), want, "%s", name);
}

static void check_caps(void) {
	struct credentials now = root_with(USUAL | IPC), user = user_with(1000, USUAL | IPC);
	struct credentials poor = root_with(USUAL & ~SETPCAP);
	check_plan("nothing", (struct options){0}, &now, "; a80465fb a80465fb 0; a80465fb");
	check_plan("root keeps one", (struct options){.drop = "all", .keep = "ipc_lock"}, &now,
		   "caps ; 4000 4000 4000; 4000");
	check_plan("root drops one", (struct options){.drop = "net_raw"}, &now,
		   "caps ; a80445fb a80445fb 0; a80445fb");
	check_plan("dropping what the kernel has not", (struct options){.drop = "cap_50"}, &now,
		   "; a80465fb a80465fb 0; a80465fb");
	check_plan("no_new_privs", (struct options){.nnp = true}, &now,
		   "nnp ; a80465fb a80465fb 0; a80465fb");
	check_plan("a user drops all of nothing", (struct options){.drop = "all", .nnp = true}, &user,
		   "nnp ; 0 a80465fb 0; 0; --cap-drop: the bounding set keeps cap_chown and others, because "
		   "this process lacks cap_setpcap; with no_new_privs, no program can regain capabilities "
		   "from it");
	check_plan("root without setpcap, no_new_privs", (struct options){.drop = "net_raw", .nnp = true},
		   &poor,
		   "caps nnp ; a80404fb a80424fb 0; a80404fb; --cap-drop: the bounding set keeps "
		   "cap_net_raw, because this process lacks cap_setpcap; with no_new_privs, no program can "
		   "regain capabilities from it");
	check_plan("root without setpcap", (struct options){.drop = "net_raw"}, &poor,
		   "--cap-drop: cap_net_raw cannot be dropped from the bounding set, from which a setuid "
		   "program could regain it: this process lacks cap_setpcap; give it to the container "
		   "(--cap-add=SETPCAP), or use --no-new-privs, which prevents that");
	check_plan("what podman has made ambient stays", (struct options){.drop = "sys_nice", .nnp = true},
		   &(struct credentials){.uid = {5, 5, 5},
					 .caps = {.permitted = IPC | CAP_BIT(CAP_SYS_NICE),
						  .inheritable = IPC | CAP_BIT(CAP_SYS_NICE),
						  .bounding = IPC,
						  .ambient = IPC | CAP_BIT(CAP_SYS_NICE)},
					 .caps_known = KNOWN},
		   "caps nnp ; 4000 4000 4000; 4000");
}

static void check_refused(void) {
	struct credentials now = root_with(USUAL), user = user_with(1000, USUAL | IPC);
	check_plan("Docker's trap", (struct options){.keep = "ipc_lock"}, &user,
		   "--cap-keep: cap_ipc_lock cannot be kept, because this process does not have it: the "
		   "container has it, but Docker and Kubernetes do not pass it to a process that does not "
		   "start as root (here: uid 1000); start the container as root, and change the user with "
		   "--user=1000");
	check_plan("not given", (struct options){.user = "app", .keep = "ipc_lock"}, &now,
		   "--cap-keep: cap_ipc_lock cannot be kept, because the container does not have it; add it "
		   "with docker run --cap-add=ipc_lock, capabilities.add in Kubernetes, or apptainer "
		   "--add-caps=cap_ipc_lock");
	check_plan("not in this kernel", (struct options){.keep = "cap_50"}, &now,
		   "--cap-keep: this kernel has no cap_50; its last capability is cap_checkpoint_restore");
	check_plan("kept and dropped", (struct options){.drop = "chown,kill", .keep = "kill"}, &now,
		   "cap_kill is both in --cap-drop and in --cap-keep; use one of them");

	check_plan("another user", (struct options){.user = "root"}, &user,
		   "--user='root': this process already runs as uid 1000, and without cap_setuid it cannot "
		   "change its user; start the container as root (apptainer --fakeroot), or as that user "
		   "(docker "
		   "run --user, runAsUser) without this option");
	check_plan("another group", (struct options){.user = "app:video"}, &user,
		   "--user='app:video': this process already runs as uid 1000, and without cap_setgid it "
		   "cannot change its group; start the container as root (apptainer --fakeroot), or as that "
		   "user "
		   "(docker run --user, runAsUser) without this option");
	check_plan("other groups", (struct options){.user = "app", .groups = "init"}, &user,
		   "--groups=init: this process already runs as uid 1000, and without cap_setgid it cannot "
		   "change its supplementary groups; start the container as root (apptainer --fakeroot), or "
		   "as that "
		   "user (docker run --user, runAsUser) without this option");
	check_plan("the same user", (struct options){.user = "app"}, &user, "; 0 a80465fb 0; 0");
	now = root_with(USUAL & ~CAP_BIT(CAP_SETUID));
	check_plan("root without setuid", (struct options){.user = "app"}, &now,
		   "--user='app': this process is root, but lacks cap_setuid, which it needs to change its "
		   "user; give it to the container (docker run --cap-add=setuid, capabilities.add in "
		   "Kubernetes, or apptainer --add-caps=cap_setuid), or start the container as that user");

	now = root_with(USUAL);
	now.securebits = SECBIT_NO_CAP_AMBIENT_RAISE;
	check_plan("no ambient ones", (struct options){.keep = "kill"}, &now,
		   "--cap-keep: cap_kill cannot be kept: the securebits of this process (0x40) forbid "
		   "ambient capabilities");
}

/** If real and effective ids differ, only the requested ones change. */
static void check_mixed(void) {
	struct credentials now = {.uid = {1000, 1000, 1000},
				  .gid = {1000, 50, 50},
				  .caps = {.bounding = USUAL},
				  .caps_known = KNOWN};
	check_plan("gids, no_new_privs", (struct options){.nnp = true}, &now, "nnp ; 0 a80425fb 0; 0");
	check_plan("gids, a capability", (struct options){.drop = "cap_50"}, &now, "; 0 a80425fb 0; 0");
	check_plan("gids, groups", (struct options){.groups = "keep"}, &now, "; 0 a80425fb 0; 0");
	now = root_with(USUAL);
	now.uid[ID_REAL] = 1000;
	check_plan("uids, no_new_privs", (struct options){.nnp = true}, &now,
		   "nnp ; a80425fb a80425fb 0; a80425fb");
	check_target("uids, no_new_privs", (struct options){.nnp = true}, &now, "1000 0 0, 0 0 0");
	check_target("uids, a group", (struct options){.user = ":44"}, &now, "1000 0 0, 44 44 44");
	check_target("uids, a user", (struct options){.user = "app"}, &now, "1000 1000 1000, 1000 1000 1000");
}

/** Capabilities that are not ambient can only come from the program's own file. */
static void check_own_file(void) {
	struct credentials now = user_with(1000, KNOWN);
	now.caps.permitted = CAP_BIT(CAP_SETUID) | CAP_BIT(CAP_SETGID) | IPC;
	const char *why = "this program's own file has capabilities, so any user could become any other with "
			  "it; start a copy without capabilities (setcap -r) as root";
	check_plan("our file has capabilities, a user", (struct options){.user = "0"}, &now,
		   arena_format(&arena, "--user='0': %s", why));
	check_plan("our file has capabilities, a group", (struct options){.user = ":0"}, &now,
		   arena_format(&arena, "--user=':0': %s", why));
	check_plan("our file has capabilities, groups", (struct options){.user = "app", .groups = "init"},
		   &now, arena_format(&arena, "--groups=init: %s", why));
	check_plan("our file has capabilities, we are that user",
		   (struct options){.user = "app", .keep = "ipc_lock"}, &now,
		   "caps ; 40c0 1ffffffffff 4000; 4000");
	now.caps.ambient = now.caps.inheritable = now.caps.permitted;
	check_plan("ambient ones", (struct options){.user = "5:5"}, &now,
		   "gid uid caps ; 0 1ffffffffff 0; 0");
}

/** Securebits (capabilities(7)) that forbid something that is not needed. */
static void check_securebits(void) {
	uint64_t ids = CAP_BIT(CAP_SETUID) | CAP_BIT(CAP_SETGID) | CAP_BIT(CAP_KILL);
	struct credentials now = user_with(1000, USUAL);
	now.caps = (struct cap_sets){ids, ids, ids, USUAL, ids};
	now.securebits = SECBIT_NO_CAP_AMBIENT_RAISE;
	check_plan("ambient ones, a user becomes root", (struct options){.user = "0"}, &now,
		   "groups gid uid caps ; e0 a80425fb e0; a80425fb");
	check_plan("ambient ones, a user becomes another", (struct options){.user = "5:5", .keep = "kill"},
		   &now, "gid uid caps ; 20 a80425fb 20; 20");
	now = root_with(USUAL);
	now.securebits = SECBIT_NO_CAP_AMBIENT_RAISE;
	check_plan("no ambient ones for a new user", (struct options){.user = "app", .keep = "kill"}, &now,
		   "--cap-keep: cap_kill cannot be kept: the securebits of this process (0x40) forbid "
		   "ambient capabilities");
	now.securebits = SECBIT_KEEP_CAPS_LOCKED;
	check_plan("none are kept, none are wanted", (struct options){.user = "app"}, &now,
		   "groups gid uid caps ; 0 a80425fb 0; 0");
	check_plan("none are kept", (struct options){.user = "app", .keep = "kill"}, &now,
		   "--cap-keep: no capability can be kept over the change of user: the securebits of this "
		   "process (0x20) forbid it");
}

/** Nothing was changed, but the plan expects a change: verifying must find this. */
static void check_verified(const char *name, const struct credentials *target, const char *want) {
	struct priv_plan plan = {.target = *target};
	struct err err = {""};
	int r = priv_apply(&arena, &plan, &err);
	checkf((r == 0) == !*want && (r == 0 || r == -EIO), "%s: %d", name, r);
	check_part(err.text, want, "%s", name);
}

static void check_verifies(void) {
	static const uint32_t group[] = {12345};
	struct credentials now, other;
	struct err err;
	if (!check(credentials_read(&arena, &now, &err) == 0)) {
		return;
	}
	check_verified("as it is", &now, "");
	other = now;
	other.uid[ID_SAVED]++;
	check_verified("a uid", &other, "not done as planned: a uid is ");
	other = now;
	other.gid[ID_EFFECTIVE]++;
	check_verified("a gid", &other, "not done as planned: a gid is ");
	other = now;
	other.groups = group;
	other.n_groups = 1;
	check_verified("groups", &other, "the supplementary groups differ");
	other = now;
	other.caps.effective ^= IPC;
	check_verified("effective", &other, "cap_ipc_lock is ");
	other = now;
	other.caps.permitted ^= CAP_BIT(63);
	check_verified("permitted", &other, "cap_63 is not in the permitted set");
	other = now;
	other.caps.inheritable ^= CAP_BIT(63);
	check_verified("inheritable", &other, "cap_63 is not in the inheritable set");
	other = now;
	other.caps.bounding ^= 1;
	check_verified("bounding", &other, "cap_chown is ");
	other = now;
	other.caps.ambient ^= CAP_BIT(63);
	check_verified("ambient", &other, "cap_63 is not in the ambient set");
	other = now;
	other.no_new_privs = !now.no_new_privs;
	check_verified("no_new_privs", &other, "not done as planned: no_new_privs is ");
}

int main(void) {
	arena = fixture_arena();
	check(mkdtemp(root) && mkdir(arena_format(&arena, "%s/etc", root), 0755) == 0);
	write_file("passwd", "root:x:0:0::/root:/bin/sh\napp:x:1000:1000::/home/app:/bin/"
			     "sh\nlarge:x:99999999999:5::/:/bin/"
			     "sh\nhomeless:x:3:4\n1234:x:77:77::/x:\n");
	write_file("group", "root:x:0:\nvideo:x:44:app\napp:x:1000:\nnone:x:-1:\n");
	check_users();
	check_caps();
	check_refused();
	check_mixed();
	check_own_file();
	check_securebits();
	check_verifies();

	(void)unlink(arena_format(&arena, "%s/etc/passwd", root));
	(void)unlink(arena_format(&arena, "%s/etc/group", root));
	struct credentials now = root_with(KNOWN);
	check_ids("app", NULL, &now,
		  "--user='app': there is no user 'app', because there is no file /etc/passwd; a number does "
		  "not need it");
	check_ids("5:video", NULL, &now,
		  "--user='5:video': there is no group 'video', because there is no file /etc/group; a "
		  "number does not need it");
	check_ids("5:6", NULL, &now, "5 6, stay, - /");
	(void)rmdir(arena_format(&arena, "%s/etc", root));
	(void)rmdir(root);
	arena_done(&arena);
	return check_done();
}
