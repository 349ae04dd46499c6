// SPDX-License-Identifier: Apache-2.0

#include "srun/runtime.h"

#include "check.h"
#include "fixture.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static struct arena arena;

static const struct runtime *by_name(const char *name) {
	for (const struct runtime *r = runtimes; r->name; r++) {
		if (strcmp(r->name, name) == 0) {
			return r;
		}
	}
	return NULL;
}

/**
 * The words of the runtime @name for the image "img", the mounts @mounts, and all other settings.
 */
static void check_words(const char *name, const char *mounts, bool full, const char *want) {
	struct mounts list = {.arena = &arena};
	struct err err = {""};
	check(mounts_add(&list, "X", str_of(mounts), &err) == 0);
	struct container c = {.image = "img", .mounts = &list};
	if (full) {
		c.folder = "/data/x";
		c.terminal = true;
		c.arguments = fixture_split(&arena, "--nv|--opt=a b", '|');
	}
	struct words words = WORDS(&arena);
	by_name(name)->put(&c, &words);
	struct buf got = BUF(&arena);
	words_put(&got, words_vector(&words));
	check_text(buf_text(&got), want, "%s%s with <%s>", name, full ? " in full" : "", mounts);
}

static void test_words(void) {
	const char *two = "/data,/a:/b:ro";
	check_words("singularity", "", false, "singularity exec img");
	check_words("singularity", two, true, "singularity exec -B /data,/a:/b:ro --nv '--opt=a b' img");
	check_words("singularity", "/a:/a:ro", false, "singularity exec -B /a:/a:ro img");
	check_words("apptainer", two, true, "apptainer exec -B /data,/a:/b:ro --nv '--opt=a b' img");
	check_words("charliecloud", "", false, "ch-run img --");
	check_words("charliecloud", "/data,/a:/b", true,
		    "ch-run -b /data:/data -b /a:/b --cd=/data/x --nv '--opt=a b' img --");
	check_words("podman", "", false,
		    "podman run --rm --interactive --network=host --ipc=host --env-host "
		    "--env=DISTINIT_CARRIED --entrypoint= img");
	check_words("podman", two, true,
		    "podman run --rm --interactive --network=host --ipc=host --env-host --tty "
		    "--volume=/data:/data --volume=/a:/b:ro --workdir=/data/x "
		    "--env=DISTINIT_CARRIED --entrypoint= --nv '--opt=a b' img");
	check_words("pyxis", "", false, "--container-image=img");
	check_words("pyxis", two, true,
		    "--container-image=img --container-mounts=/data:/data,/a:/b:ro "
		    "--container-workdir=/data/x --nv '--opt=a b'");
}

/** A folder with programs that do nothing: only whether they are there counts. */
static const char *make_programs(const char *folder, const char *names) {
	const char *path = arena_format(&arena, "%s/%s", folder, *names ? names : "none");
	mkdir(path, 0755);
	struct str rest = str_of(names), name;
	while (*names && str_cut(&rest, '+', &name)) {
		FILE *file = fopen(arena_format(&arena, "%s/%.*s", path, (int)name.len, name.p), "w");
		if (file) {
			fchmod(fileno(file), 0755);
			fclose(file);
		}
	}
	return path;
}

static void check_find(const char *folder, const char *installed, const char *name, const char *image,
		       const char *want) {
	struct env env;
	const struct runtime *found;
	struct err err = {""};
	fixture_env(&env, &arena, arena_format(&arena, "PATH=%s", make_programs(folder, installed)), '\n');
	int r = runtime_find(&arena, &env, "--runtime", name, image, &found, &err);
	check_text(r < 0 ? err.text : found->name, want, "%s for %s with <%s>", name ? name : "auto", image,
		   installed);
}

static void test_find(const char *folder) {
	const char *all = "singularity+apptainer+ch-run+podman";
	check_find(folder, all, NULL, "/x.sif", "singularity");
	check_find(folder, all, "auto", "/x.sif", "singularity");
	check_find(folder, "apptainer+podman", NULL, "/x.sif", "apptainer");
	check_find(folder, "ch-run+podman", NULL, folder, "charliecloud");
	check_find(folder, "podman", NULL, folder, "podman");
	check_find(folder, "ch-run+podman", NULL, "docker.io/x", "podman");
	check_find(folder, "ch-run+podman", NULL, "/x.sqfs", "charliecloud");
	check_find(folder, "", "podman", "x", "podman");
	check_find(folder, "", "ch-run", "x", "charliecloud");
	check_find(folder, "", "enroot", "x", "pyxis");
	check_find(folder, "", "none", NULL, "none");
	check_find(
		folder, "ch-run+podman", NULL, "/x.sif",
		"no container runtime for '/x.sif' is in PATH; name the one on the nodes with "
		"--runtime=NAME or CONTAINER_RUNTIME=NAME, or use --runtime=none to run without a container");
	check_find(folder, "", "singularty", "x",
		   "--runtime='singularty' is not a container runtime; expected one of auto, singularity, "
		   "apptainer, charliecloud, podman, pyxis, none; did you mean 'singularity'?");
}

static void check_check(const char *name, const char *image, const char *mounts, const char *want) {
	struct mounts list = {.arena = &arena};
	struct err err = {""};
	check(mounts_add(&list, "X", str_of(mounts), &err) == 0);
	struct container c = {.image = image, .mounts = &list};
	int r = runtime_check(by_name(name), &arena, &c, "--image", &err);
	check_text(r < 0 ? err.text : "", want, "%s: %s with <%s>", name, image ? image : "-", mounts);
}

static void test_check(const char *folder) {
	check_check("none", NULL, "/a", "");
	check_check("singularity", "/nonexistent/x.sif", "",
		    "--image: the image '/nonexistent/x.sif' cannot be read: No such file or directory");
	check_check("singularity", "docker://x", "/a:/b:ro", "");
	check_check("podman", "x", "/a:/b:ro", "");
	check_check("charliecloud", "x", "/a:/b:ro",
		    "X: charliecloud cannot mount '/a' read-only; remove the ':ro'");
	check_check("singularity", folder, "/a:/b", "");
	mkdir(arena_format(&arena, "%s/in", folder), 0755);
	check_check("charliecloud", folder, "/a:/in", "");
	check_check(
		"charliecloud", folder, "/a:/in,/a:/out",
		arena_format(
			&arena,
			"X: '/out' is not in the image, and ch-run cannot create it; run 'mkdir -p %s/out'",
			folder));
}

int main(void) {
	arena = fixture_arena();
	char folder[] = "/tmp/test-runtime.XXXXXX";
	test_words();
	if (checkf(mkdtemp(folder), "a folder")) {
		test_find(folder);
		test_check(folder);
		struct words words = WORDS(&arena);
		words_addf(&words, "rm -rf %s", folder);
		check(system(words.at[0]) == 0);
	}
	arena_done(&arena);
	return check_done();
}
