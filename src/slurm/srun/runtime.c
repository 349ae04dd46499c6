// SPDX-License-Identifier: Apache-2.0

/**
 * The command lines of container runtimes, from their manuals: Singularity 3 and Apptainer 1
 * ("exec", "Bind Paths and Mounts"), Charliecloud 0.31 (ch-run(1)), Podman 4.3 (podman-run(1)),
 * pyxis 0.20 ("Usage").
 */

#include "srun/runtime.h"

#include "base/nearest.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/** Write "SOURCE[:TARGET[:ro]]" for each mount, joined by ','. @whole: always write the target. */
static char *bind_list(struct arena *arena, const struct mounts *mounts, bool whole) {
	struct buf out = BUF(arena);
	for (size_t i = 0; i < mounts->n; i++) {
		const struct mount *m = &mounts->at[i];
		bool same = strcmp(m->source, m->target) == 0;
		buf_putf(&out, "%s%s", i ? "," : "", m->source);
		if (whole || !same || m->read_only) {
			buf_putf(&out, ":%s%s", m->target, m->read_only ? ":ro" : "");
		}
	}
	return buf_text(&out);
}

static void put_singularity(const char *program, const struct container *c, struct words *words) {
	words_add(words, program);
	words_add(words, "exec");
	if (c->mounts->n) {
		words_add(words, "-B");
		words_add(words, bind_list(words->arena, c->mounts, false));
	}
	words_add_all(words, c->arguments);
	words_add(words, c->image);
}

static void singularity_put(const struct container *c, struct words *words) {
	put_singularity("singularity", c, words);
}

static void apptainer_put(const struct container *c, struct words *words) {
	put_singularity("apptainer", c, words);
}

/**
 * Charliecloud passes on the environment unchanged. Its image is read-only, so each mount target has to exist
 * in it.
 */
static void charliecloud_put(const struct container *c, struct words *words) {
	words_add(words, "ch-run");
	for (size_t i = 0; i < c->mounts->n; i++) {
		words_add(words, "-b");
		words_addf(words, "%s:%s", c->mounts->at[i].source, c->mounts->at[i].target);
	}
	if (c->folder) {
		words_addf(words, "--cd=%s", c->folder);
	}
	words_add_all(words, c->arguments);
	words_add(words, c->image);
	words_add(words, "--");
}

/** Whether @image is a folder of the host, not a name. */
static bool is_folder(const char *image) {
	struct stat info;
	return image[0] == '/' && stat(image, &info) == 0 && S_ISDIR(info.st_mode);
}

/** Ranks share the host's network and memory. The image's variables, such as PATH, override the host's. */
static void podman_put(const struct container *c, struct words *words) {
	static const char *const always[] = {"podman",	       "run",	     "--rm",	  "--interactive",
					     "--network=host", "--ipc=host", "--env-host"};
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++) {
		words_add(words, always[i]);
	}
	if (c->terminal) {
		words_add(words, "--tty");
	}
	for (size_t i = 0; i < c->mounts->n; i++) {
		const struct mount *m = &c->mounts->at[i];
		words_addf(words, "--volume=%s:%s%s", m->source, m->target, m->read_only ? ":ro" : "");
	}
	if (c->folder) {
		words_addf(words, "--workdir=%s", c->folder);
	}
	// The arguments may have --env-host=false, but this variable is needed always.
	words_add(words, "--env=DISTINIT_CARRIED");
	// Remove the image's entrypoint, because it would get our command line as its arguments.
	words_add(words, "--entrypoint=");
	words_add_all(words, c->arguments);
	if (is_folder(c->image)) {
		words_add(words, "--rootfs");
	}
	words_add(words, c->image);
}

static void pyxis_put(const struct container *c, struct words *words) {
	words_addf(words, "--container-image=%s", c->image);
	if (c->mounts->n) {
		words_addf(words, "--container-mounts=%s", bind_list(words->arena, c->mounts, true));
	}
	if (c->folder) {
		words_addf(words, "--container-workdir=%s", c->folder);
	}
	words_add_all(words, c->arguments);
}

const struct runtime runtimes[] = {
	{"singularity", NULL, "singularity", .has_image = true, .makes_targets = true, .reads_only = true,
	 .put = singularity_put},
	{"apptainer", NULL, "apptainer", .has_image = true, .makes_targets = true, .reads_only = true,
	 .put = apptainer_put},
	{"charliecloud", "ch-run", "ch-run", .has_image = true, .put = charliecloud_put},
	{"podman", NULL, "podman", .has_image = true, .is_init = true, .makes_targets = true,
	 .wants_current_folder = true, .reads_only = true, .put = podman_put},
	{"pyxis", "enroot", NULL, .has_image = true, .by_srun = true, .makes_targets = true,
	 .wants_current_folder = true, .reads_only = true, .put = pyxis_put},
	{"none", NULL, NULL},
	{0},
};

bool program_is_there(struct arena *arena, const struct env *env, const char *program) {
	if (strchr(program, '/')) {
		return access(program, X_OK) == 0;
	}
	struct str path = str_of(env_get(env, "PATH")), folder;
	while (str_cut(&path, ':', &folder)) {
		const char *at = arena_format(arena, "%.*s/%s", (int)folder.len, folder.p, program);
		if (folder.len && access(at, X_OK) == 0) {
			return true;
		}
	}
	return false;
}

static int refuse_name(struct arena *arena, const char *from, const char *name, struct err *err) {
	struct nearest best = {.word = str_of(name)};
	struct buf known = BUF(arena);
	buf_puts(&known, "auto");
	for (const struct runtime *r = runtimes; r->name; r++) {
		nearest_try(&best, r->name);
		buf_putf(&known, ", %s", r->name);
	}
	return err_set(err, EINVAL, "%s=%s is not a container runtime; expected one of %s%s", from,
		       quote_text(name).s, buf_text(&known), nearest_hint(&best, "").s);
}

/** Whether @text ends in @end. */
static bool ends_in(const char *text, const char *end) {
	size_t len = strlen(text), n = strlen(end);
	return len >= n && strcmp(text + len - n, end) == 0;
}

/**
 * Whether @runtime can run @image. Charliecloud needs a path that is not a .sif or .simg file, podman a folder or a name.
 * Singularity and Apptainer run files, folders and names with "://".
 */
static bool can_run(const struct runtime *runtime, const char *image) {
	bool is_file = image[0] == '/' && !is_folder(image);
	if (runtime->put == charliecloud_put) {
		return image[0] == '/' && !ends_in(image, ".sif") && !ends_in(image, ".simg");
	}
	return runtime->put == podman_put ? !is_file : true;
}

int runtime_find(struct arena *arena, const struct env *env, const char *from, const char *name,
		 const char *image, const struct runtime **out, struct err *err) {
	bool automatic = !name || strcmp(name, "auto") == 0;
	for (const struct runtime *r = runtimes; r->name; r++) {
		bool named = !automatic &&
			     (strcmp(name, r->name) == 0 || (r->alias && strcmp(name, r->alias) == 0));
		bool found = automatic && r->program && image && can_run(r, image) &&
			     program_is_there(arena, env, r->program);
		if (named || found) {
			*out = r;
			return 0;
		}
	}
	if (!automatic) {
		return refuse_name(arena, from, name, err);
	}
	return err_set(
		err, ENOENT,
		"no container runtime for %s is in PATH; name the one on the nodes with --runtime=NAME or "
		"CONTAINER_RUNTIME=NAME, or use --runtime=none to run without a container",
		quote_text(image).s);
}

/** If the runtime cannot create mount targets, refuse a target that the image, a folder, lacks. */
static int check_targets(const struct runtime *runtime, struct arena *arena, const struct container *c,
			 struct err *err) {
	bool shown = !runtime->makes_targets && is_folder(c->image);
	for (size_t i = 0; shown && i < c->mounts->n; i++) {
		const struct mount *m = &c->mounts->at[i];
		const char *path = arena_format(arena, "%s%s", c->image, m->target);
		if (access(path, F_OK) < 0) {
			return err_set(
				err, ENOENT,
				"%s: %s is not in the image, and %s cannot create it; run 'mkdir -p %s'",
				m->from, quote_text(m->target).s, runtime->program, path);
		}
	}
	return 0;
}

int runtime_check(const struct runtime *runtime, struct arena *arena, const struct container *container,
		  const char *from, struct err *err) {
	const char *image = container->image;
	if (!runtime->has_image) {
		return 0;
	}
	if (image[0] == '-') {
		return err_set(err, EINVAL,
			       "%s: the image %s begins with '-', so %s would read it as an option", from,
			       quote_text(image).s, runtime->name);
	}
	// If the image has no leading '/', it is a name, which the runtime looks up.
	if (image[0] == '/' && access(image, F_OK) < 0) {
		int code = errno;
		return err_set(err, code, "%s: the image %s cannot be read: %s", from, quote_text(image).s,
			       strerror(code));
	}
	for (size_t i = 0; !runtime->reads_only && i < container->mounts->n; i++) {
		const struct mount *m = &container->mounts->at[i];
		if (m->read_only) {
			return err_set(err, EINVAL, "%s: %s cannot mount %s read-only; remove the ':ro'",
				       m->from, runtime->name, quote_text(m->source).s);
		}
	}
	return check_targets(runtime, arena, container, err);
}
