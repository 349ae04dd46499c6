// SPDX-License-Identifier: Apache-2.0

#include "priv/plan.h"

#include "base/file.h"
#include "base/num.h"
#include "priv/elevated.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>

/** The size limit of an id map, which has at most 340 lines of three numbers. */
#define MAP_BYTES ((size_t)64 << 10)

/** The kernel's limit (NGROUPS_MAX). */
#define GROUPS_MAX 65536

struct planning {
	struct arena *arena;
	const struct wishes *wishes;
	const struct credentials *now;
	struct notes *notes;
	struct priv_plan *plan;
};

/** The option that decides the groups, for messages. */
static const char *groups_from(const struct wishes *w) {
	return w->groups_from ? w->groups_from : w->user_from;
}

/** Report that cap_setuid or cap_setgid is missing. */
static int refuse_ids(struct planning *p, unsigned cap, const char *from, const char *what, struct err *err) {
	uint32_t uid = p->now->uid[ID_EFFECTIVE];
	const struct cap_name text = cap_name(cap);
	const char *name = text.s + 4;
	if (uid != 0) {
		return err_set(err, EPERM,
			       "%s: this process already runs as uid %u, and without cap_%s it cannot change "
			       "%s; start the container as root (apptainer --fakeroot), or as that user "
			       "(docker run --user, runAsUser) without this option",
			       from, uid, name, what);
	}
	return err_set(err, EPERM,
		       "%s: this process is root, but lacks cap_%s, which it needs to change %s; give it to "
		       "the container (docker run --cap-add=%s, capabilities.add in Kubernetes, or apptainer "
		       "--add-caps=cap_%s), or start the container as that user",
		       from, name, what, name, name);
}

static int check_may_change_ids(struct planning *p, struct err *err) {
	const struct wishes *w = p->wishes;
	uint64_t has = p->now->caps.permitted;
	if (p->plan->set_uid && !(has & CAP_BIT(CAP_SETUID))) {
		return refuse_ids(p, CAP_SETUID, w->user_from, "its user", err);
	}
	if (p->plan->set_gid && !(has & CAP_BIT(CAP_SETGID))) {
		return refuse_ids(p, CAP_SETGID, w->user_from, "its group", err);
	}
	if (p->plan->set_groups && !(has & CAP_BIT(CAP_SETGID))) {
		return refuse_ids(p, CAP_SETGID, groups_from(w), "its supplementary groups", err);
	}
	return 0;
}

/** Refuse to change ids by capabilities of our own file: each user who may execute it could become any other. */
static int check_own_file(struct planning *p, struct err *err) {
	const struct wishes *w = p->wishes;
	bool user = p->plan->set_uid || p->plan->set_gid;
	if ((!user && !p->plan->set_groups) || !elevated_by_file(p->now)) {
		return 0;
	}
	return err_set(err, EPERM,
		       "%s: this program's own file has capabilities, so any user could become any other "
		       "with it; start a copy without capabilities (setcap -r) as root",
		       user ? w->user_from : groups_from(w));
}

/** Cut the next number off *@rest. */
static bool cut_number(struct str *rest, uint64_t *out) {
	struct str word;
	return str_word(rest, &word) && num_read(word, UINT32_MAX, out) == 0;
}

/**
 * Whether @map, the text of a uid_map or gid_map, has @id. Each line: first id inside, first id outside,
 * count.
 */
static bool is_mapped(struct str map, uint32_t id) {
	struct str line;
	uint64_t first, outside, n;
	while (str_cut(&map, '\n', &line)) {
		if (cut_number(&line, &first) && cut_number(&line, &outside) && cut_number(&line, &n) &&
		    id >= first && id - first < n) {
			return true;
		}
	}
	return false;
}

static int check_mapped(struct planning *p, const char *path, const char *what, uint32_t id, const char *from,
			struct err *err) {
	struct str map;
	if (file_read_path(p->arena, path, MAP_BYTES, &map) < 0 || is_mapped(map, id)) {
		return 0;
	}
	return err_set(err, EINVAL,
		       "%s: there is no %s %u in this user namespace (it is not in %s); use a mapped one, or "
		       "map more ids",
		       from, what, id, path);
}

/**
 * Check whether the user namespace allows the changes: the kernel's EINVAL or EPERM would not say why it does
 * not.
 */
static int check_namespace(struct planning *p, struct err *err) {
	const struct wishes *w = p->wishes;
	int r = 0;
	if (p->plan->set_uid) {
		r = check_mapped(p, "/proc/self/uid_map", "uid", w->uid, w->user_from, err);
	}
	if (r == 0 && p->plan->set_gid) {
		r = check_mapped(p, "/proc/self/gid_map", "gid", w->gid, w->user_from, err);
	}
	if (r < 0 || !p->plan->set_groups) {
		return r;
	}
	struct str answer;
	if (file_read_path(p->arena, "/proc/self/setgroups", MAP_BYTES, &answer) == 0 &&
	    str_starts(answer, STR("deny"))) {
		return err_set(err, EPERM,
			       "%s: this user namespace does not let the supplementary groups change "
			       "(/proc/self/setgroups says 'deny'); --groups=keep leaves them as they are",
			       groups_from(w));
	}
	for (uint32_t i = 0; r == 0 && i < w->n_groups; i++) {
		r = check_mapped(p, "/proc/self/gid_map", "gid", w->groups[i], groups_from(w), err);
	}
	return r;
}

static int check_ids(struct planning *p, struct err *err) {
	const struct wishes *w = p->wishes;
	// If no user is requested, the ids stay as they are, even if real, effective and saved ids differ.
	p->plan->set_uid = w->has_user && !ids_are(p->now->uid, w->uid);
	p->plan->set_gid = w->user_from && !ids_are(p->now->gid, w->gid);
	p->plan->set_groups = w->change_groups;
	if (w->n_groups > GROUPS_MAX) {
		return err_set(err, EINVAL, "%s: the user is in %u groups, but the kernel takes at most %d",
			       groups_from(w), w->n_groups, GROUPS_MAX);
	}
	int r = check_own_file(p, err);
	r = r < 0 ? r : check_may_change_ids(p, err);
	return r < 0 ? r : check_namespace(p, err);
}

/** Report why @cap cannot be kept: this process does not have it. */
static int refuse_keep(struct planning *p, unsigned cap, struct err *err) {
	const struct wishes *w = p->wishes;
	struct cap_name name = cap_name(cap);
	uint32_t uid = p->now->uid[ID_EFFECTIVE];
	if (!(p->now->caps_known & CAP_BIT(cap))) {
		return err_set(err, EINVAL, "%s: this kernel has no %s; its last capability is %s",
			       w->keep_from, name.s,
			       cap_name(63 - (unsigned)__builtin_clzll(p->now->caps_known | 1)).s);
	}
	if (!(p->now->caps.bounding & CAP_BIT(cap))) {
		return err_set(err, EPERM,
			       "%s: %s cannot be kept, because the container does not have it; add it "
			       "with docker run --cap-add=%s, capabilities.add in Kubernetes, or apptainer "
			       "--add-caps=%s",
			       w->keep_from, name.s, name.s + 4, name.s);
	}
	if (uid != 0) {
		// Many people do not expect this: if the process is not root, Docker and Kubernetes put
		// added capabilities into the bounding set only.
		return err_set(err, EPERM,
			       "%s: %s cannot be kept, because this process does not have it: the container "
			       "has it, but Docker and Kubernetes do not pass it to a process that does not "
			       "start as root (here: uid %u); start the container as root, and change the "
			       "user with --user=%u",
			       w->keep_from, name.s, uid, uid);
	}
	return err_set(err, EPERM,
		       "%s: %s cannot be kept, because this process does not have it: the container has it, "
		       "but the program that started this process dropped it",
		       w->keep_from, name.s);
}

/**
 * Whether the process has an id of root now, and none after the change. The kernel then clears the ambient
 * set, and the permitted set unless PR_SET_KEEPCAPS is on. Under SECBIT_NO_SETUID_FIXUP it clears neither.
 */
static bool stops_being_root(const struct planning *p) {
	const uint32_t *uid = p->now->uid;
	bool root = uid[ID_REAL] == 0 || uid[ID_EFFECTIVE] == 0 || uid[ID_SAVED] == 0;
	return p->plan->set_uid && root && p->wishes->uid != 0 &&
	       !(p->now->securebits & SECBIT_NO_SETUID_FIXUP);
}

/** Check for securebits (capabilities(7)) that would make a later step fail half-way. */
static int check_securebits(struct planning *p, struct err *err) {
	unsigned bits = p->now->securebits;
	const struct wishes *w = p->wishes;
	bool resets = stops_being_root(p);
	// A capability that is ambient now and stays so need not be raised. All others come from --cap-keep.
	uint64_t raises = p->plan->target.caps.ambient & ~(resets ? 0 : p->now->caps.ambient);
	bool forgets = resets && (bits & SECBIT_KEEP_CAPS_LOCKED) && !(bits & SECBIT_KEEP_CAPS);
	if (raises && (bits & SECBIT_NO_CAP_AMBIENT_RAISE)) {
		return err_set(err, EPERM,
			       "%s: %s cannot be kept: the securebits of this process (0x%x) forbid ambient "
			       "capabilities",
			       w->keep_from, cap_name(caps_first(raises)).s, bits);
	}
	p->plan->permitted_later = forgets ? 0 : p->now->caps.permitted;
	if (forgets && (w->keep || p->plan->drop_bounding)) {
		return err_set(err, EPERM,
			       "%s: no capability can be kept over the change of user: "
			       "the securebits of this process (0x%x) forbid it",
			       w->keep ? w->keep_from : w->drop_from, bits);
	}
	return 0;
}

/** Plan what to drop from the bounding set. A process needs cap_setpcap to do this. */
static int plan_bounding(struct planning *p, struct err *err) {
	const struct wishes *w = p->wishes;
	uint64_t leaves = p->now->caps.bounding & w->drop;
	if (leaves && !(p->now->caps.permitted & CAP_BIT(CAP_SETPCAP))) {
		unsigned first = caps_first(leaves);
		if (!p->plan->target.no_new_privs) {
			return err_set(
				err, EPERM,
				"%s: %s cannot be dropped from the bounding set, from which a setuid program "
				"could regain it: this process lacks cap_setpcap; give it to the container "
				"(--cap-add=SETPCAP), or use --no-new-privs, which prevents that",
				w->drop_from, cap_name(first).s);
		}
		notes_add(p->notes,
			  "%s: the bounding set keeps %s%s, because this process lacks cap_setpcap; with "
			  "no_new_privs, no program can regain capabilities from it",
			  w->drop_from, cap_name(first).s, leaves & (leaves - 1) ? " and others" : "");
		leaves = 0;
	}
	p->plan->drop_bounding = leaves;
	p->plan->target.caps.bounding &= ~leaves;
	return 0;
}

/** Plan the capability sets. */
static int plan_caps(struct planning *p, struct err *err) {
	const struct wishes *w = p->wishes;
	struct cap_sets *t = &p->plan->target.caps;
	uint64_t lacks = w->keep & ~(p->now->caps.permitted & p->now->caps.bounding);
	if (lacks) {
		return refuse_keep(p, caps_first(lacks), err);
	}
	// If the user is not root, it gets only the capabilities to keep. Root's follow from the bounding set.
	bool leaves_root = p->plan->set_uid && w->uid != 0;
	uint64_t stays = leaves_root ? 0 : ~w->drop;
	t->permitted = (t->permitted & stays) | w->keep;
	t->effective = (t->effective & stays) | w->keep;
	t->inheritable = (t->inheritable & stays) | w->keep;
	t->ambient = (t->ambient & stays) | w->keep;
	int r = plan_bounding(p, err);
	return r < 0 ? r : check_securebits(p, err);
}

static bool same_sets(const struct cap_sets *a, const struct cap_sets *b) {
	return a->effective == b->effective && a->permitted == b->permitted &&
	       a->inheritable == b->inheritable && a->bounding == b->bounding && a->ambient == b->ambient;
}

int priv_plan(struct arena *arena, const struct wishes *wishes, const struct credentials *now,
	      struct notes *notes, struct priv_plan *out, struct err *err) {
	struct priv_plan plan = {
		.target = *now,
		.permitted_now = now->caps.permitted,
		.inheritable_now = now->caps.inheritable,
		.user_from = wishes->user_from,
		.set_no_new_privs = wishes->no_new_privs && !now->no_new_privs,
	};
	struct planning p = {arena, wishes, now, notes, &plan};
	plan.target.no_new_privs = now->no_new_privs || wishes->no_new_privs;
	int r = check_ids(&p, err);
	r = r < 0 ? r : plan_caps(&p, err);
	if (r < 0) {
		return r;
	}
	for (unsigned i = 0; i < N_IDS; i++) {
		plan.target.uid[i] = plan.set_uid ? wishes->uid : now->uid[i];
		plan.target.gid[i] = plan.set_gid ? wishes->gid : now->gid[i];
	}
	if (plan.set_groups) {
		plan.target.groups = wishes->groups;
		plan.target.n_groups = wishes->n_groups;
	}
	// priv_apply() makes all permitted capabilities effective to change ids, so the sets have to be restored
	// afterwards.
	plan.set_caps =
		plan.set_uid || plan.set_gid || plan.set_groups || !same_sets(&plan.target.caps, &now->caps);
	plan.workload = credentials_after_exec(&plan.target);
	*out = plan;
	return 0;
}

void priv_plan_keep(struct priv_plan *plan, uint64_t caps) {
	caps &= plan->permitted_later;
	plan->target.caps.permitted |= caps;
	plan->target.caps.effective |= caps;
	plan->set_caps = plan->set_caps || caps;
}
