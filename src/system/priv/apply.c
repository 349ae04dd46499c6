// SPDX-License-Identifier: Apache-2.0

#include "priv/plan.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

/**
 * Change groups, group and user, in this order, because the change of user takes away the right to change the
 * others.
 */
static int change_ids(const struct priv_plan *p, struct err *err) {
	const struct credentials *t = &p->target;
	if (!p->set_groups && !p->set_gid && !p->set_uid) {
		return 0;
	}
	int r = caps_write(p->permitted_now, p->permitted_now, p->inheritable_now);
	if (r < 0) {
		return err_set(err, -r, "the permitted capabilities cannot be made effective: %s",
			       strerror(-r));
	}
	if (p->set_groups && setgroups(t->n_groups, t->groups) < 0) {
		return err_set(err, errno, "the %u supplementary groups cannot be set: %s", t->n_groups,
			       strerror(errno));
	}
	if (p->set_gid && setgid(t->gid[0]) < 0) {
		return err_set(err, errno, "%s: the group cannot become gid %u: %s", p->user_from, t->gid[0],
			       strerror(errno));
	}
	r = p->set_uid ? caps_keep_over_setuid(t->uid[0]) : 0;
	return r < 0 ? err_set(err, -r, "%s: the user cannot become uid %u: %s", p->user_from, t->uid[0],
			       strerror(-r))
		     : 0;
}

/**
 * Change the bounding, inheritable and ambient sets, then the permitted and effective ones. The change of
 * user has cleared the effective and the ambient set. Changing the bounding set needs an effective
 * cap_setpcap, and a capability can become ambient only if it is permitted and inheritable already.
 */
static int change_caps(const struct priv_plan *p, struct err *err) {
	const struct cap_sets *t = &p->target.caps;
	unsigned at = 0;
	int r;
	if (!p->set_caps) {
		return 0;
	}
	r = caps_write(p->permitted_later, p->permitted_later, p->inheritable_now);
	if (r < 0) {
		return err_set(err, -r, "the capabilities were lost in the change of user: %s", strerror(-r));
	}
	r = caps_drop_bounding(p->drop_bounding, &at);
	if (r < 0) {
		return err_set(err, -r, "%s cannot be dropped from the bounding set: %s", cap_name(at).s,
			       strerror(-r));
	}
	r = caps_write(p->permitted_later, p->permitted_later, t->inheritable);
	if (r < 0) {
		return err_set(err, -r, "the inheritable capabilities cannot be set: %s", strerror(-r));
	}
	r = caps_write_ambient(t->ambient, t->inheritable, &at);
	if (r < 0) {
		const char *none =
			" (this kernel has no such set: Linux before 4.3, or gVisor; there, only root has "
			"capabilities, without --cap-keep)";
		return err_set(err, -r, "%s cannot be changed in the ambient set: %s%s", cap_name(at).s,
			       strerror(-r), r == -EINVAL ? none : "");
	}
	r = caps_write(t->effective, t->permitted, t->inheritable);
	return r < 0 ? err_set(err, -r, "the capabilities cannot be set: %s", strerror(-r)) : 0;
}

static int not_as_planned(const char *what, struct err *err) {
	return err_set(err, EIO, "the change of privileges was not done as planned: %s", what);
}

/** Check one number that was read back. */
static int check_number(const char *what, uint64_t found, uint64_t wanted, struct err *err) {
	if (found == wanted) {
		return 0;
	}
	return err_set(err, EIO,
		       "the change of privileges was not done as planned: %s is %lu, and should be %lu", what,
		       (unsigned long)found, (unsigned long)wanted);
}

/** Check one set of capabilities that was read back. */
static int check_set(const char *what, uint64_t found, uint64_t wanted, struct err *err) {
	if (found == wanted) {
		return 0;
	}
	unsigned cap = caps_first(found ^ wanted);
	return err_set(err, EIO, "the change of privileges was not done as planned: %s is %s the %s set",
		       cap_name(cap).s, found & CAP_BIT(cap) ? "still in" : "not in", what);
}

/** Read everything back, and compare: a call that reports success may have changed less than asked. */
static int verify(struct arena *arena, const struct priv_plan *p, struct err *err) {
	const struct credentials *t = &p->target;
	struct credentials now;
	int r = credentials_read(arena, &now, err);
	for (unsigned i = 0; r == 0 && i < N_IDS; i++) {
		r = check_number("a uid", now.uid[i], t->uid[i], err);
		r = r < 0 ? r : check_number("a gid", now.gid[i], t->gid[i], err);
	}
	if (r == 0 && !groups_are(now.groups, now.n_groups, t->groups, t->n_groups, t->gid[0])) {
		r = not_as_planned("the supplementary groups differ", err);
	}
	r = r < 0 ? r : check_set("effective", now.caps.effective, t->caps.effective, err);
	r = r < 0 ? r : check_set("permitted", now.caps.permitted, t->caps.permitted, err);
	r = r < 0 ? r : check_set("inheritable", now.caps.inheritable, t->caps.inheritable, err);
	r = r < 0 ? r : check_set("bounding", now.caps.bounding, t->caps.bounding, err);
	r = r < 0 ? r : check_set("ambient", now.caps.ambient, t->caps.ambient, err);
	r = r < 0 ? r : check_number("no_new_privs", now.no_new_privs, t->no_new_privs, err);
	// Without cap_setuid, going back to root must be impossible.
	if (r == 0 && p->set_uid && t->uid[0] != 0 && !(t->caps.permitted & CAP_BIT(CAP_SETUID)) &&
	    setuid(0) == 0) {
		r = not_as_planned("uid 0 can be regained", err);
	}
	return r;
}

int priv_apply(struct arena *arena, const struct priv_plan *plan, struct err *err) {
	int r = change_ids(plan, err);
	r = r < 0 ? r : change_caps(plan, err);
	if (r == 0 && plan->set_no_new_privs && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
		r = err_set(err, errno, "no_new_privs cannot be set: %s", strerror(errno));
	}
	return r < 0 ? r : verify(arena, plan, err);
}
