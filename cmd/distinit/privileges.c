// SPDX-License-Identifier: Apache-2.0

#include "distinit/privileges.h"

#include "priv/rights.h"

#include <errno.h>

static struct asked asked(struct session *s, enum option_id id) {
	const char *value = s->settings.value[id];
	return (struct asked){value, value ? settings_label(&s->settings, id) : NULL};
}

static const struct origin *origin(struct session *s, const char *why) {
	struct origin *by = arena_alloc(&s->arena, sizeof(*by));
	*by = (struct origin){.by = settings_label(&s->settings, OPT_USER), .why = why};
	return by;
}

/**
 * Set @name to @value, that of the new user. What is there is the user's and stays, unless it is @before, which says who we were:
 * engines and shells set HOME for the user that a container starts as.
 */
static void set_identity(struct session *s, const char *name, const char *value, const char *before,
			 const char *why) {
	const char *now = env_value(&s->env, name);
	if (now && !(before && strcmp(now, before) == 0)) {
		derive_keeps(&s->derivation, name);
	} else if (value) {
		env_set(&s->env, str_of(name), str_of(value), origin(s, why));
	} else if (now) {
		env_unset(&s->env, str_of(name), origin(s, why));
	}
}

void session_set_identity(struct session *s) {
	const struct wishes *w = &s->wishes;
	if (!w->has_user) {
		return;
	}
	const char *home_before = env_value(&s->env, "HOME");
	// Where /etc/passwd does not tell: root's usual home, and what engines take for a user that has none.
	bool usual = home_before && (strcmp(home_before, "/") == 0 ||
				     (s->was.uid[ID_REAL] == 0 && strcmp(home_before, "/root") == 0));
	const char *name_before = w->name_now ? w->name_now : s->was.uid[ID_REAL] == 0 ? "root" : NULL;
	const char *why = w->name ? arena_format(&s->arena, "that of %s, uid %u", w->name, w->uid)
				  : arena_format(&s->arena, "uid %u has no line in /etc/passwd", w->uid);
	set_identity(s, "HOME", w->home, usual ? home_before : w->home_now, why);
	set_identity(s, "USER", w->name, name_before, why);
	set_identity(s, "LOGNAME", w->name, name_before, why);
}

/**
 * Where the users' files are looked for. A variable could make any name root this way, so it is
 * ignored where the command line fixes a privilege.
 */
static const char *users_root(struct session *s) {
	const char *fixed = options_fixed_privilege(&s->settings);
	const char *root = s->settings.value[OPT_ROOT];
	if (!root || !fixed || s->settings.given[OPT_ROOT]) {
		return root;
	}
	if (settings_on(&s->settings, OPT_USER) || settings_on(&s->settings, OPT_GROUPS)) {
		notes_add(&s->notes,
			  "DISTINIT_ROOT is not where users and groups are looked up, as %s is on the "
			  "command line",
			  fixed);
	}
	return NULL;
}

/**
 * Choose the rights for opening what variables name: the workload's. Where the plan failed: those of
 * the user, without capabilities.
 */
static void plan_rights(struct session *s) {
	struct credentials *as = &s->opens_as;
	s->has_more_rights = s->was.caps.permitted;
	if (!s->plan_error) {
		*as = s->plan.target;
		as->caps.effective = s->plan.workload;
		return;
	}
	*as = s->was;
	as->uid[ID_EFFECTIVE] = s->wishes.uid;
	as->gid[ID_EFFECTIVE] = s->wishes.gid;
	as->caps.effective = 0;
	if (s->wishes.change_groups) {
		as->groups = s->wishes.groups;
		as->n_groups = s->wishes.n_groups;
	}
}

static int plan_change(struct session *s, struct err *err) {
	struct notes aside = {.arena = &s->arena};
	// What the plan has to remark is no concern of those who only print variables.
	bool tells = s->command == CMD_RUN || s->command == CMD_EXPLAIN;
	int r = priv_plan(&s->arena, &s->wishes, &s->was, tells ? &s->notes : &aside, &s->plan, err);
	if (r < 0) {
		s->plan_error = arena_text(&s->arena, err->text, strlen(err->text));
	}
	plan_rights(s);
	return s->command == CMD_RUN ? r : 0;
}

int session_privileges_plan(struct session *s, struct err *err) {
	struct priv_options wanted = {
		.user = asked(s, OPT_USER),
		.groups = asked(s, OPT_GROUPS),
		.cap_drop = asked(s, OPT_CAP_DROP),
		.cap_keep = asked(s, OPT_CAP_KEEP),
		.no_new_privs = settings_on(&s->settings, OPT_NO_NEW_PRIVS),
	};
	if (!wanted.user.value && !wanted.groups.value && !wanted.cap_drop.value && !wanted.cap_keep.value &&
	    !wanted.no_new_privs) {
		return 0;
	}
	wanted.root = users_root(s);
	int r = credentials_read(&s->arena, &s->was, err);
	r = r < 0 ? r : wishes_read(&s->arena, &wanted, &s->was, &s->notes, &s->wishes, err);
	return r < 0 ? r : plan_change(s, err);
}

int session_rights_lower(struct session *s, struct err *err) {
	if (!s->has_more_rights) {
		return 0;
	}
	int r = rights_lower(&s->was, &s->opens_as, err);
	if (r < 0 && s->plan_error) {
		// We may not become that user, which is why no workload could either.
		s->opens_as = s->was;
		s->opens_as.caps.effective = 0;
		r = rights_lower(&s->was, &s->opens_as, err);
	}
	return r;
}

int session_rights_restore(struct session *s, int r, struct err *err) {
	if (!s->has_more_rights) {
		return r;
	}
	if (r == -EACCES) {
		struct err cause = *err;
		err_set(err, EACCES,
			"%s; what a variable names is opened with the rights of the workload, uid %u, gid %u",
			cause.text, s->opens_as.uid[ID_EFFECTIVE], s->opens_as.gid[ID_EFFECTIVE]);
	}
	int back = rights_restore(&s->was, &s->opens_as, err);
	return back < 0 ? back : r;
}

/** For --log=info. */
static void say_who_it_is(struct session *s) {
	const struct priv_plan *plan = &s->plan;
	struct buf line = BUF(&s->arena);
	buf_putf(&line, "runs as uid %u, gid %u, with ", plan->target.uid[0], plan->target.gid[0]);
	buf_puts(&line, plan->workload ? "" : "no capabilities");
	caps_put(&line, plan->workload, " ");
	buf_puts(&line, plan->target.no_new_privs ? ", no_new_privs" : "");
	say_line(&s->speaker, LOG_INFO, buf_text(&line));
}

int session_privileges_drop(struct session *s, struct err *err) {
	if (!s->wishes.any) {
		return 0;
	}
	if (s->speaker.log >= LOG_INFO) {
		say_who_it_is(s);
	}
	s->has_more_rights = false;
	return priv_apply(&s->arena, &s->plan, err);
}
