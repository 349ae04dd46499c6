// SPDX-License-Identifier: Apache-2.0

#include "process/process.h"

#include "check.h"
#include "fixture.h"
#include "tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static struct arena arena;

static void check_status(const char *text, const char *want) {
	struct process p = {.seccomp = NOT_KNOWN, .ignored = 7};
	process_read_status(str_of(text), &p);
	check_text(arena_format(&arena, "%d %d %lx %lx", p.seccomp, p.has_signals, (unsigned long)p.ignored,
				(unsigned long)p.blocked),
		   want, "status '%s'", text);
}

/** @file is made in an empty root first, unless NULL. */
static void check_container(const char *file, const char *variables, const char *want) {
	char root[] = "/tmp/test-process.XXXXXX";
	struct env env;
	fixture_env(&env, &arena, variables, ' ');
	check(mkdtemp(root) != NULL);
	const char *folder = arena_format(&arena, "%s/run", root);
	const char *path = file ? arena_format(&arena, "%s%s", root, file) : NULL;
	check(mkdir(folder, 0755) == 0);
	if (path) {
		int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
		check(fd >= 0 && close(fd) == 0);
	}
	struct container_mark c = container_read(tree_view(&arena, root), &env);
	check_text(arena_format(&arena, "%s %s", c.kind ? c.kind : "-", c.by ? c.by : "-"), want,
		   "'%s' and '%s'", file ? file : "", variables);
	if (path) {
		(void)unlink(path);
	}
	(void)rmdir(folder);
	(void)rmdir(root);
}

int main(void) {
	arena = fixture_arena();

	check_status("", "-1 0 7 0");
	check_status("Name:\tx\nSigBlk:\t0000000000000200\nSigIgn:\t0000000000000001\nSeccomp:\t2\n",
		     "2 1 1 200");
	check_status("SigIgn:\tffffffffffffffff\nSigBlk:\t0\nSeccomp:\t0", "0 1 ffffffffffffffff 0");
	check_status("SigIgn:\t1ffffffffffffffff\nSigBlk:\t0\n", "-1 0 7 0");
	check_status("SigIgn:\t\nSigBlk:\tzz\nSeccomp:\t9\n", "-1 0 7 0");
	check_status("SigIgn: 3\n", "-1 0 3 0");

	check_container("/.dockerenv", "", "docker /.dockerenv");
	check_container("/run/.containerenv", "container=podman", "podman /run/.containerenv");
	check_container(NULL, "container=lxc", "lxc container");
	check_container("/.dockerenv", "KUBERNETES_SERVICE_HOST=10.0.0.1",
			"kubernetes KUBERNETES_SERVICE_HOST");
	check_container("/.dockerenv", "KUBERNETES_SERVICE_HOST=", "docker /.dockerenv");
	check_container(NULL, "SINGULARITY_CONTAINER=/a.sif APPTAINER_CONTAINER=/a.sif",
			"apptainer APPTAINER_CONTAINER");
	check_container("/.singularity.d", "", "singularity /.singularity.d");

	struct env env;
	struct process p;
	struct err err;
	fixture_env(&env, &arena, "", ' ');
	check(process_read(&arena, NULL, &env, &p, &err) == 0);
	check(p.pid == (uint32_t)getpid() && p.has.uid[ID_REAL] == getuid() && p.memlock > 0);

	arena_done(&arena);
	return check_done();
}
