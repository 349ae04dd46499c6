// SPDX-License-Identifier: Apache-2.0

#include "distinit/privileges.h"

#include "priv/plan.h"

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

static void set_environment(struct session *s) {
	const struct wishes *w = &s->wishes;
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
 * Where the users' files are looked for. A variable that chose it could make any name root, so it has no say where the command
 * line fixes a privilege.
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

int session_privileges_read(struct session *s, struct err *err) {
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
	if (r == 0 && s->wishes.has_user) {
		set_environment(s);
	}
	return r;
}

/** For --log=info. */
static void say_who_it_is(struct session *s, const struct priv_plan *plan) {
	struct buf line = BUF(&s->arena);
	buf_putf(&line, "runs as uid %u, gid %u, with ", plan->target.uid[0], plan->target.gid[0]);
	buf_puts(&line, plan->workload ? "" : "no capabilities");
	caps_put(&line, plan->workload, " ");
	buf_puts(&line, plan->target.no_new_privs ? ", no_new_privs" : "");
	say_line(&s->speaker, LOG_INFO, buf_text(&line));
}

int session_privileges(struct session *s, struct err *err) {
	struct priv_plan plan;
	if (!s->wishes.any) {
		return 0;
	}
	int r = priv_plan(&s->arena, &s->wishes, &s->was, &s->notes, &plan, err);
	if (r < 0) {
		return r;
	}
	say_notes(&s->speaker, &s->notes);
	if (s->speaker.log >= LOG_INFO) {
		say_who_it_is(s, &plan);
	}
	return priv_apply(&s->arena, &plan, err);
}
