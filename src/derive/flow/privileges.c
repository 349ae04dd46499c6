// SPDX-License-Identifier: Apache-2.0

#include "flow/privileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>

static const struct origin *origin(struct flow *f, const char *why) {
	struct origin *by = arena_alloc(f->arena, sizeof(*by));
	*by = (struct origin){.by = f->wants.privileges.user.from, .why = why};
	return by;
}

/**
 * Set @name to @value, the new user's. An existing value is the user's and stays, unless it is
 * @before, the value for the previous user: engines and shells set HOME for the user that a
 * container starts as.
 */
static void set_identity(struct flow *f, const char *name, const char *value, const char *before,
			 const char *why) {
	const char *now = env_value(f->env, name);
	if (now && !(before && strcmp(now, before) == 0)) {
		derive_keeps(&f->derivation, name);
	} else if (value) {
		env_set(f->env, str_of(name), str_of(value), origin(f, why));
	} else if (now) {
		env_unset(f->env, str_of(name), origin(f, why));
	}
}

void privileges_set_identity(struct flow *f) {
	const struct wishes *w = &f->wishes;
	if (!w->has_user) {
		return;
	}
	const char *home_before = env_value(f->env, "HOME");
	// Values to replace although /etc/passwd does not list them: root's usual home, and the one
	// that engines set for a user without a home.
	bool usual = home_before && (strcmp(home_before, "/") == 0 ||
				     (f->was.uid[ID_REAL] == 0 && strcmp(home_before, "/root") == 0));
	const char *name_before = w->name_now ? w->name_now : f->was.uid[ID_REAL] == 0 ? "root" : NULL;
	const char *why = w->name ? arena_format(f->arena, "that of %s, uid %u", w->name, w->uid)
				  : arena_format(f->arena, "uid %u has no line in /etc/passwd", w->uid);
	set_identity(f, "HOME", w->home, usual ? home_before : w->home_now, why);
	set_identity(f, "USER", w->name, name_before, why);
	set_identity(f, "LOGNAME", w->name, name_before, why);
}

/**
 * Choose the workload's rights for opening files. If the plan failed, these are the user's ids without
 * capabilities; if they cannot be set, no file is opened.
 */
static void plan_rights(struct flow *f) {
	struct access *a = &f->access;
	struct credentials *as = &a->workloads;
	a->ours = f->was;
	if (!f->plan_error) {
		*as = f->plan.target;
		as->caps.effective = f->plan.workload;
		// If we have no capabilities, the plan cannot remove any.
		a->workload = f->was.caps.permitted ? RIGHTS_FEWER : RIGHTS_SAME;
		return;
	}
	*as = f->was;
	as->uid[ID_EFFECTIVE] = f->wishes.uid;
	as->gid[ID_EFFECTIVE] = f->wishes.gid;
	as->caps.effective = 0;
	if (f->wishes.change_groups) {
		as->groups = f->wishes.groups;
		as->n_groups = f->wishes.n_groups;
	}
	a->workload = RIGHTS_FEWER;
}

static int plan_change(struct flow *f, struct err *err) {
	struct notes aside = {.arena = f->arena};
	struct notes *notes = f->wants.notes_change ? f->notes : &aside;
	int r = priv_plan(f->arena, &f->wishes, &f->was, notes, &f->plan, err);
	if (r < 0) {
		f->plan_error = arena_text(f->arena, err->text, strlen(err->text));
	}
	plan_rights(f);
	return f->wants.must_change ? r : 0;
}

int privileges_plan(struct flow *f, struct err *err) {
	const struct priv_options *p = &f->wants.privileges;
	if (f->access.workload != RIGHTS_UNKNOWN) {
		return f->plan_error && f->wants.must_change ? err_set(err, EPERM, "%s", f->plan_error) : 0;
	}
	if (!p->user.value && !p->groups.value && !p->cap_drop.value && !p->cap_keep.value &&
	    !p->no_new_privs) {
		f->access.workload = RIGHTS_SAME;
		return 0;
	}
	int r = credentials_read(f->arena, &f->was, err);
	r = r < 0 ? r : wishes_read(f->arena, p, &f->was, f->notes, &f->wishes, err);
	return r < 0 ? r : plan_change(f, err);
}

int privileges_drop(struct flow *f, struct err *err) {
	if (!f->wishes.any) {
		return 0;
	}
	if (f->wants.supervises) {
		// The workload may become another user by a setuid program, and we must still be able to
		// terminate it.
		priv_plan_keep(&f->plan, CAP_BIT(CAP_KILL));
	}
	int r = priv_apply(f->arena, &f->plan, err);
	// If only a part was applied, open no more files.
	f->access.workload = r < 0 ? RIGHTS_UNKNOWN : RIGHTS_SAME;
	return r;
}
