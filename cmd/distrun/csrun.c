// SPDX-License-Identifier: Apache-2.0

#include "distrun/csrun.h"

#include "base/file.h"
#include "base/num.h"
#include "env/bundle.h"

#include <errno.h>
#include <unistd.h>

/**
 * distinit's path in the container. Charliecloud mounts only at folders that the image has, and its images have
 * FIRST_FOLDER_INSIDE.
 */
#define FIRST_INSIDE	    "/distinit"
#define FIRST_FOLDER_INSIDE "/mnt/0"

// --- settings

/** Find the folder of this program, in the arena; NULL on failure. */
static const char *own_folder(struct arena *arena) {
	const char *path = self_path(arena), *slash = path ? strrchr(path, '/') : NULL;
	return slash && slash > path ? arena_text(arena, path, (size_t)(slash - path)) : NULL;
}

static int read_site(struct csrun *c, struct err *err) {
	const struct settings *settings = &c->s->settings;
	const char *own = own_folder(c->arena), *root = settings->value[OPT_ROOT];
	struct site_paths paths = {
		.given = settings->value[OPT_SITE],
		.given_from = "--site",
		.system = file_under_root(c->arena, root, "/etc/distinit/site.conf"),
		.beside = own ? arena_format(c->arena, "%s/site.conf", own) : NULL,
	};
	if (!paths.given) {
		paths.given = env_value(&c->s->env, "CSRUN_SITE");
		paths.given_from = paths.given ? "CSRUN_SITE" : NULL;
	}
	return site_read(c->arena, &paths, &c->site, err);
}

void csrun_choose(struct csrun *c, enum site_id id) {
	const struct settings *settings = &c->s->settings;
	const char *value = settings->value[id];
	const char *from = value ? settings_label(settings, id) : NULL;
	if (!value) {
		value = env_value(&c->s->env, site_names[id].variable);
		from = value ? site_names[id].variable : NULL;
	}
	// The site's folders are mounted in addition to the user's, so they are no default.
	bool by_site = !value && id != SITE_MOUNT_DIRS && c->site.value[id] && *c->site.value[id];
	if (by_site) {
		value = c->site.value[id];
		from = arena_format(c->arena, "%s:%u: %s", c->site.path, c->site.line[id],
				    site_names[id].file);
	}
	c->value[id] = value;
	c->from[id] = from;
	c->by_site[id] = by_site;
}

int csrun_site(struct csrun *c, struct distrun_session *s, struct err *err) {
	*c = (struct csrun){.s = s, .arena = &s->arena};
	c->mounts.arena = c->unset.arena = c->carried.arena = c->arena;
	return read_site(c, err);
}

int csrun_refuse(struct distrun_session *s) {
	struct err err;
	err_set(&err, EINVAL, "no command; usage: %s [OPTION]... COMMAND [ARG]... (see --help)", s->called);
	return session_refuse(s, &err);
}

int csrun_number(const struct csrun *c, enum site_id id, uint32_t max, uint32_t *out, struct err *err) {
	uint64_t number;
	const char *value = c->value[id];
	if (!value) {
		return 0;
	}
	if (num_read(str_of(value), max, &number) < 0 || (number == 0 && id != SITE_SINGLE_TASK_NODES)) {
		return err_set(err, EINVAL, "%s=%s is not a whole number from %u to %u", c->from[id],
			       quote_text(value).s, id != SITE_SINGLE_TASK_NODES, max);
	}
	*out = (uint32_t)number;
	return 0;
}

/**
 * Read "True" or "False", as in csrun_cpu. @value NULL: *@out is unchanged. @from names the setting in
 * messages.
 */
static int read_truth(const char *value, const char *from, bool *out, struct err *err) {
	char word[8] = "";
	if (!value) {
		return 0;
	}
	size_t n = strlen(value);
	for (size_t i = 0; i < n && i + 1 < sizeof(word); i++) {
		word[i] = (char)(value[i] >= 'A' && value[i] <= 'Z' ? value[i] - 'A' + 'a' : value[i]);
	}
	int on = n < sizeof(word) ? (n ? option_flag(str_of(word)) : 1) : -EINVAL;
	if (on < 0) {
		return err_set(err, EINVAL, "%s=%s: expected True or False", from, quote_text(value).s);
	}
	*out = on;
	return 0;
}

int csrun_truth(const struct csrun *c, enum site_id id, bool *out, struct err *err) {
	return read_truth(c->value[id], c->from[id], out, err);
}

int csrun_settings(struct csrun *c, struct distrun_session *s, struct err *err) {
	int r = csrun_site(c, s, err);
	if (r < 0) {
		return r;
	}
	bool logging = false;
	r = read_truth(s->settings.value[OPT_LOGGING], "--logging", &logging, err);
	if (r < 0) {
		return r;
	}
	if (logging && s->speaker.log < LOG_INFO) {
		s->speaker.log = LOG_INFO;
	}
	site_check_variables(&s->env, &s->notes);
	for (const struct option *option = distrun_options.options; option->commands; option++) {
		if (option->id < SITE_N && (option->commands & s->command)) {
			csrun_choose(c, (enum site_id)option->id);
		}
	}
	return 0;
}

// --- the container

static const char *current_folder(struct arena *arena) {
	char path[4096];
	return getcwd(path, sizeof(path)) ? arena_text(arena, path, strlen(path)) : NULL;
}

/** Find the image. Make a relative path absolute, because the command may start in another folder. */
static const char *find_image(struct csrun *c) {
	const char *image = c->value[SITE_IMAGE], *here = current_folder(c->arena);
	bool is_path = image && image[0] != '/' && !strstr(image, "://") &&
		       (image[0] == '.' || access(image, F_OK) == 0);
	return is_path && here ? arena_format(c->arena, "%s/%s", here, image) : image;
}

static int refuse_no_image(const struct csrun *c, struct err *err) {
	if (c->site.value[SITE_IMAGE]) {
		return err_set(err, EINVAL,
			       "%s:%u: SINGULARITY_IMAGE is empty; set an image with --image=IMAGE, or use "
			       "--runtime=none",
			       c->site.path, c->site.line[SITE_IMAGE]);
	}
	if (c->site.path) {
		return err_set(err, EINVAL,
			       "%s: SINGULARITY_IMAGE is not set; set an image with --image=IMAGE, or use "
			       "--runtime=none",
			       c->site.path);
	}
	return err_set(err, EINVAL,
		       "no image: there is no site file (/etc/distinit/site.conf); set an image with "
		       "--image=IMAGE, or use --runtime=none");
}

static int choose_runtime(struct csrun *c, struct err *err) {
	const char *name = c->value[SITE_RUNTIME];
	c->container.image = find_image(c);
	bool needs_image = !name || strcmp(name, "none") != 0;
	if (needs_image && !c->container.image) {
		return refuse_no_image(c, err);
	}
	int r = runtime_find(c->arena, &c->s->env, c->from[SITE_RUNTIME], name, c->container.image,
			     &c->runtime, err);
	if (r == 0 && (!name || strcmp(name, "auto") == 0)) {
		c->value[SITE_RUNTIME] = c->runtime->name;
		c->from[SITE_RUNTIME] = "the first in PATH that can run this image";
	}
	return r;
}

/** Collect the mounts: the site's, the user's, the current folder. */
static int find_mounts(struct csrun *c, struct err *err) {
	const char *of_site = c->site.value[SITE_MOUNT_DIRS];
	int r = 0;
	if (of_site) {
		const char *from = arena_format(c->arena, "%s:%u: MOUNT_DIRS", c->site.path,
						c->site.line[SITE_MOUNT_DIRS]);
		r = mounts_add(&c->mounts, from, str_of(of_site), err);
	}
	if (r == 0 && c->value[SITE_MOUNT_DIRS]) {
		r = mounts_add(&c->mounts, c->from[SITE_MOUNT_DIRS], str_of(c->value[SITE_MOUNT_DIRS]), err);
	}
	const char *here = current_folder(c->arena);
	bool mount_here = here && c->runtime->wants_current_folder && !mounts_inside(&c->mounts, here) &&
			  strcmp(here, "/") != 0;
	if (r == 0 && mount_here) {
		const struct mount mount = {here, here, false, "the current folder"};
		r = mounts_add_one(&c->mounts, &mount, err);
	}
	r = r < 0 ? r : mounts_check(&c->mounts, err);
	if (r == 0 && here) {
		c->container.folder = mounts_inside(&c->mounts, here);
	}
	return r;
}

/** Find distinit on the host: as configured, or beside this program. *@out NULL: do not use it. */
static int find_distinit(struct csrun *c, const char **out, struct err *err) {
	const char *given = c->value[SITE_DISTINIT], *own = own_folder(c->arena);
	*out = NULL;
	if (given && strcmp(given, "none") == 0) {
		return 0;
	}
	const char *from = given ? c->from[SITE_DISTINIT] : "distinit";
	const char *path = given ? given : arena_format(c->arena, "%s/distinit", own ? own : "");
	if (path[0] != '/' || access(path, X_OK) < 0) {
		return err_set(
			err, ENOENT,
			"%s: %s is not a program; set its path on the nodes with --distinit=PATH, or use "
			"--distinit=none",
			from, quote_text(path).s);
	}
	*out = path;
	return 0;
}

/** Mount distinit into the container, where it is the first program. */
static int mount_distinit(struct csrun *c, struct err *err) {
	const char *path;
	int r = find_distinit(c, &path, err);
	if (r < 0 || !path) {
		return r;
	}
	if (!c->runtime->has_image) {
		c->first = path;
		return 0;
	}
	c->carrier = c->runtime->by_srun ? NULL : path;
	if (c->runtime->makes_targets) {
		c->first = FIRST_INSIDE;
		return mounts_add_one(&c->mounts, &(struct mount){path, c->first, true, "distinit"}, err);
	}
	const char *name = strrchr(path, '/') + 1;
	const char *folder = arena_text(c->arena, path, (size_t)(name - path));
	c->first = arena_format(c->arena, "%s/%s", FIRST_FOLDER_INSIDE, name);
	return mounts_add_one(&c->mounts, &(struct mount){folder, FIRST_FOLDER_INSIDE, false, "distinit"},
			      err);
}

// --- the environment

#define BUNDLE "DISTINIT_BUNDLE"

/** Keep the names that @bundle sets, for --dry-run. Values are escaped, so each entry is one line. */
static void list_carried(struct csrun *c, struct str bundle) {
	struct str line;
	while (str_cut(&bundle, '\n', &line)) {
		if (str_starts(line, STR("set "))) {
			struct str rest = str_from(line, 4);
			words_addf(&c->carried, "%.*s", (int)str_find(rest, '='), rest.p);
		}
	}
}

/**
 * Put the tracked variables (DISTINIT_TRACK) into the environment as a bundle, from which distinit in the container sets
 * them. A bundle needs no file, which would have to be removed on another machine, even if this program is killed.
 */
static int carry_variables(struct csrun *c, struct err *err) {
	struct distrun_session *s = c->s;
	const char *names = env_value(&s->env, "DISTINIT_TRACK");
	if (!names) {
		return 0;
	}
	if (!c->first) {
		notes_add(
			&s->notes,
			"DISTINIT_TRACK=%s: no variable is carried, because distinit is not in the container",
			quote_text(names).s);
		return 0;
	}
	const struct bundle_request request = {
		.names = str_of(names),
		.names_from = "DISTINIT_TRACK",
	};
	struct buf out = BUF(c->arena);
	int r = bundle_write(&request, &s->env, &out, &s->notes, err);
	if (r < 0) {
		return r;
	}
	if (out.len + sizeof(BUNDLE "=") > ENV_TEXT_MAX) {
		return err_set(err, E2BIG,
			       "DISTINIT_TRACK=%s: the tracked variables have %zu bytes, and a variable can "
			       "have %zu; "
			       "track fewer, or write a file with 'distinit bundle' and name it in "
			       "DISTINIT_ENV_FILE",
			       quote_text(names).s, out.len, ENV_TEXT_MAX - sizeof(BUNDLE "="));
	}
	list_carried(c, buf_str(&out));
	if (c->carried.n) {
		env_set(&s->env, STR(BUNDLE), buf_str(&out), NULL);
	}
	return 0;
}

static bool is_carried(const struct csrun *c, struct str name) {
	for (size_t i = 0; i < c->carried.n; i++) {
		if (str_is(name, c->carried.at[i])) {
			return true;
		}
	}
	return false;
}

void csrun_unset(struct csrun *c, const char *names) {
	struct str rest = str_of(names), name;
	struct buf lost = BUF(c->arena);
	while (str_cut(&rest, ' ', &name)) {
		const char *value = env_find(&c->s->env, name);
		if (!value || !*value) {
			continue;
		}
		words_addf(&c->unset, "%.*s", (int)name.len, name.p);
		env_unset(&c->s->env, name, NULL);
		if (!is_carried(c, name)) {
			buf_putf(&lost, "%s%.*s", lost.len ? ", " : "", (int)name.len, name.p);
		}
	}
	if (lost.len) {
		notes_add(&c->s->notes,
			  "unset, as csrun_cpu does: %s; to carry a variable into the container, name it in "
			  "DISTINIT_TRACK",
			  buf_text(&lost));
	}
}

// --- all of it

/** If distinit does not precede the command, refuse a name that srun or the runtime would read as an option. */
static int check_command(const struct csrun *c, struct err *err) {
	const char *command = c->s->settings.arguments[0];
	if (c->first || !command || command[0] != '-') {
		return 0;
	}
	return err_set(err, EINVAL,
		       "the command %s begins with '-', so it would be read as an option of another program; "
		       "name it by its path",
		       quote_text(command).s);
}

int csrun_contain(struct csrun *c, bool terminal, struct err *err) {
	struct words arguments = WORDS(c->arena);
	int r = choose_runtime(c, err);
	r = r < 0 ? r : find_mounts(c, err);
	r = r < 0 ? r : mount_distinit(c, err);
	r = r < 0 ? r : check_command(c, err);
	if (r == 0 && c->value[SITE_RUNTIME_ARGS]) {
		r = words_split(&arguments, c->from[SITE_RUNTIME_ARGS], str_of(c->value[SITE_RUNTIME_ARGS]),
				err);
	}
	if (r < 0) {
		return r;
	}
	c->container.arguments = words_vector(&arguments);
	c->container.mounts = &c->mounts;
	c->container.terminal = terminal;
	r = runtime_check(c->runtime, c->arena, &c->container, c->from[SITE_IMAGE], err);
	return r < 0 ? r : carry_variables(c, err);
}
