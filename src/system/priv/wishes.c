// SPDX-License-Identifier: Apache-2.0

#include "priv/wishes.h"

#include "base/file.h"
#include "base/num.h"
#include "priv/capability.h"
#include "priv/users.h"

#include <errno.h>
#include <linux/capability.h>
#include <unistd.h>

/** The size limit of /etc/passwd and /etc/group. */
#define FILE_BYTES ((size_t)8 << 20)

/** /etc/passwd or /etc/group. `there`: the file exists; else its text is empty. */
struct id_file {
	const char *path;
	struct str text;
	bool there;
};

/** The state while the options are read. */
struct wish_reading {
	struct arena *arena;
	const struct priv_options *options;
	struct notes *notes;
	/** "--user=app", for messages; NULL: no user is given. */
	const char *user_from;
	struct id_file passwd, groups;
};

/** Read @path into @out. */
static int read_file(struct wish_reading *in, const char *path, struct id_file *out, struct err *err) {
	*out = (struct id_file){file_under_root(in->arena, in->options->root, path), STR(""), true};
	int r = file_read(in->arena, "the file", out->path, FILE_BYTES, &out->text, err);
	out->there = r == 0;
	return r == -ENOENT || r == -ENOTDIR ? 0 : r;
}

static const char *copy(struct wish_reading *in, struct str text) {
	return arena_text(in->arena, text.p, text.len);
}

static int refuse_id(struct wish_reading *in, struct str word, const char *what, struct err *err) {
	return err_set(err, ERANGE, "%s: %s is not a %s; the range is 0 to 4294967294", in->user_from,
		       quote(word).s, what);
}

/** Report that @file has no line for @word, and suggest the nearest name. */
static int refuse_name(struct wish_reading *in, struct str word, const char *what, const struct id_file *file,
		       struct err *err) {
	struct nearest best = {.word = word};
	users_nearest(in->arena, file->text, &best);
	if (!file->there) {
		return err_set(
			err, EINVAL,
			"%s: there is no %s %s, because there is no file %s; a number does not need it",
			in->user_from, what, quote(word).s, file->path);
	}
	if (best.found && str_is(word, best.found)) {
		return err_set(err, EINVAL, "%s: the %s of its line in %s is invalid", in->user_from,
			       *what == 'u' ? "uid or gid" : "gid", file->path);
	}
	return err_set(err, EINVAL, "%s: there is no %s %s in %s%s", in->user_from, what, quote(word).s,
		       file->path, nearest_hint(&best, "").s);
}

/** Read @word, the user in --user. *@found: whether /etc/passwd has a line for this user. */
static int read_user(struct wish_reading *in, struct str word, struct user *user, bool *found,
		     struct err *err) {
	uint32_t uid;
	struct user namesake;
	int r = num_read_u32(word, &uid);
	if (r == -ERANGE) {
		return refuse_id(in, word, "user id", err);
	}
	if (r < 0) {
		*found = user_by_name(in->passwd.text, word, user);
		return *found ? 0 : refuse_name(in, word, "user", &in->passwd, err);
	}
	// Some tools read a name made of digits as a name, not as a number.
	if (user_by_name(in->passwd.text, word, &namesake) && namesake.uid != uid) {
		notes_add(in->notes, "%s: %s is taken as a number; the user of that name in %s is uid %u",
			  in->user_from, quote(word).s, in->passwd.path, namesake.uid);
	}
	*found = user_by_uid(in->passwd.text, uid, user);
	user->uid = uid;
	return 0;
}

static int read_group(struct wish_reading *in, struct str word, uint32_t *gid, struct err *err) {
	int r = num_read_u32(word, gid);
	struct group group;
	if (r == -ERANGE) {
		return refuse_id(in, word, "group id", err);
	}
	if (r == 0) {
		return 0;
	}
	if (!group_by_name(in->groups.text, word, &group)) {
		return refuse_name(in, word, "group", &in->groups, err);
	}
	*gid = group.gid;
	return 0;
}

/** Read --user. *@has_group: whether it names a group. */
static int read_ids(struct wish_reading *in, struct wishes *out, bool *has_group, struct err *err) {
	struct str group = str_of(in->options->user.value), name;
	struct user user = {.home = STR("")};
	bool found = false;
	str_cut(&group, ':', &name);
	*has_group = group.len > 0;
	if (name.len == 0 && group.len == 0) {
		return err_set(err, EINVAL, "%s: expected USER, USER:GROUP or :GROUP", in->user_from);
	}
	if (name.len) {
		int r = read_user(in, name, &user, &found, err);
		if (r < 0) {
			return r;
		}
		out->uid = user.uid;
		out->has_user = true;
		out->name = found ? copy(in, user.name) : NULL;
		out->home = found && user.home.len ? copy(in, user.home) : "/";
		out->gid = found ? user.gid : out->gid;
	}
	if (*has_group) {
		return read_group(in, group, &out->gid, err);
	}
	if (!found && out->gid == 0 && out->uid != 0) {
		notes_add(
			in->notes,
			"%s has no line in %s, so its group is unknown, and gid 0 stays; USER:GROUP sets one",
			in->user_from, in->passwd.path);
	}
	return 0;
}

enum groups_how {
	GROUPS_INIT,
	GROUPS_KEEP,
	GROUPS_NONE,
	GROUPS_DEFAULT,
};

static int read_how(const struct setting *groups, enum groups_how *out, struct err *err) {
	static const char *const words[] = {"init", "keep", "none"};
	struct nearest best = {.word = str_of(groups->value)};
	*out = GROUPS_DEFAULT;
	for (unsigned i = 0; groups->value && i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(groups->value, words[i]) == 0) {
			*out = (enum groups_how)i;
			return 0;
		}
		nearest_try(&best, words[i]);
	}
	return groups->value ? err_set(err, EINVAL, "%s=%s: expected one of init, keep, none%s", groups->from,
				       quote_text(groups->value).s, nearest_hint(&best, "").s)
			     : 0;
}

/** Decide on the supplementary groups. */
static int read_groups(struct wish_reading *in, const struct credentials *now, bool has_group,
		       struct wishes *out, struct err *err) {
	enum groups_how how;
	int r = read_how(&in->options->groups, &how, err);
	if (r < 0) {
		return r;
	}
	const char *name = out->has_user ? out->name : out->name_now;
	// A process that already is this user may lack the right to change groups, and need not.
	bool is_now = ids_are(now->uid, out->uid) && ids_are(now->gid, out->gid);
	bool stay = is_now && !(in->options->groups_anyway && (now->caps.effective & CAP_BIT(CAP_SETGID)));
	if (how == GROUPS_DEFAULT) {
		how = stay ? GROUPS_KEEP : has_group || !name ? GROUPS_NONE : GROUPS_INIT;
	} else {
		out->groups_from =
			arena_format(in->arena, "%s=%s", in->options->groups.from, in->options->groups.value);
	}
	if (how == GROUPS_INIT && !name) {
		return err_set(err, EINVAL,
			       "%s: uid %u has no name in %s, so %s cannot list it; --groups=none gives "
			       "it no other groups",
			       out->groups_from, out->uid, in->passwd.path, in->groups.path);
	}
	uint32_t *list = NULL;
	uint32_t n =
		how == GROUPS_INIT ? groups_of(in->arena, in->groups.text, str_of(name), out->gid, &list) : 0;
	out->groups = list;
	out->n_groups = n;
	// Ignore the primary gid when comparing, because it makes no difference whether the list contains it: a
	// needless setgroups() could need a right that we lack.
	uint32_t ignored = is_now ? out->gid : UINT32_MAX;
	out->change_groups = how != GROUPS_KEEP && !groups_are(now->groups, now->n_groups, list, n, ignored);
	return 0;
}

static int read_caps(const struct priv_options *options, struct wishes *out, struct err *err) {
	int r = 0;
	if (options->cap_drop.value) {
		out->drop_from = options->cap_drop.from;
		r = caps_parse(out->drop_from, options->cap_drop.value, true, &out->drop, err);
	}
	if (r == 0 && options->cap_keep.value) {
		out->keep_from = options->cap_keep.from;
		r = caps_parse(out->keep_from, options->cap_keep.value, false, &out->keep, err);
	}
	if (r < 0) {
		return r;
	}
	if (out->drop != CAPS_ALL && (out->drop & out->keep)) {
		return err_set(err, EINVAL, "%s is both in %s and in %s; use one of them",
			       cap_name(caps_first(out->drop & out->keep)).s, out->drop_from, out->keep_from);
	}
	out->drop &= ~out->keep;
	return 0;
}

/** Read the name and home of the current user, because the environment may still have them. */
static void read_now(struct wish_reading *in, const struct credentials *now, struct wishes *out) {
	struct user user;
	if (user_by_uid(in->passwd.text, now->uid[ID_REAL], &user)) {
		out->name_now = copy(in, user.name);
		out->home_now = copy(in, user.home);
	}
}

int wishes_read(struct arena *arena, const struct priv_options *options, const struct credentials *now,
		struct notes *notes, struct wishes *out, struct err *err) {
	struct wish_reading in = {.arena = arena, .options = options, .notes = notes};
	struct wishes wishes = {
		.any = true,
		.uid = now->uid[ID_EFFECTIVE],
		.gid = now->gid[ID_EFFECTIVE],
		.no_new_privs = options->no_new_privs,
	};
	bool has_group = false;
	int r = 0;
	if (options->user.value || options->groups.value) {
		r = read_file(&in, "/etc/passwd", &in.passwd, err);
		r = r < 0 ? r : read_file(&in, "/etc/group", &in.groups, err);
		if (r == 0) {
			read_now(&in, now, &wishes);
		}
		if (r == 0 && options->user.value) {
			wishes.user_from = in.user_from = arena_format(arena, "%s=%s", options->user.from,
								       quote_text(options->user.value).s);
			r = read_ids(&in, &wishes, &has_group, err);
		}
		r = r < 0 ? r : read_groups(&in, now, has_group, &wishes, err);
	}
	r = r < 0 ? r : read_caps(options, &wishes, err);
	if (r == 0) {
		*out = wishes;
	}
	return r;
}
