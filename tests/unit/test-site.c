// SPDX-License-Identifier: Apache-2.0

#include "srun/site.h"

#include "check.h"
#include "fixture.h"

#include <errno.h>

static struct arena arena;

/** Read @text and show "NAME:LINE=VALUE" of each setting, joined by '|'; or the message. */
static void check_site(const char *text, const char *want) {
	struct site site;
	struct err err = {""};
	int r = site_parse(&arena, "f", str_of(text), &site, &err);
	struct buf got = BUF(&arena);
	for (int id = 0; r == 0 && id < SITE_N; id++) {
		if (site.value[id]) {
			buf_putf(&got, "%s%s:%u=%s", got.len ? "|" : "", site_names[id].file, site.line[id],
				 site.value[id]);
		}
	}
	check_text(r < 0 ? err.text : buf_text(&got), want, "<%s>", text);
	checkf(r == 0 || r == -EINVAL, "<%s> returns %d", text, r);
}

static void test_files(void) {
	check_site("", "");
	check_site("# nothing\n\n  # at all\n", "");
	check_site("SINGULARITY_IMAGE=/a.sif\nDEF_NODES=3\n", "SINGULARITY_IMAGE:1=/a.sif|DEF_NODES:2=3");
	check_site("DEF_NODES=3", "DEF_NODES:1=3");
	check_site("  DEF_NODES=3  \r\n", "DEF_NODES:1=3");
	check_site("export DEF_NODES=3\n", "DEF_NODES:1=3");
	check_site("DEF_NODES=\n", "DEF_NODES:1=");
	check_site("DEF_NODES=3 # three\n", "DEF_NODES:1=3");
	check_site("DEF_NODES= # none\n", "DEF_NODES:1=");
	check_site("SINGULARITY_IMAGE=/a#b.sif\n", "SINGULARITY_IMAGE:1=/a#b.sif");
	check_site("SINGULARITY_IMAGE=\"/a b\" # c\n", "SINGULARITY_IMAGE:1=/a b");
	check_site("SINGULARITY_IMAGE='/a $b'\n", "SINGULARITY_IMAGE:1=/a $b");
	check_site("MOUNT_DIRS=\"/data/,/home/\"\n", "MOUNT_DIRS:1=/data/,/home/");
	check_site("SRUN_ARGS=--mem=0 --comment='a b'\n", "SRUN_ARGS:1=--mem=0 --comment='a b'");
	check_site("SRUN_ARGS=\"--mem=0 --mpi=pmix\"\n", "SRUN_ARGS:1=--mem=0 --mpi=pmix");
	check_site("SRUN_ARGS='a' 'b'\n", "SRUN_ARGS:1='a' 'b'");
	check_site(
		"CONTAINER_RUNTIME=podman\nRUNTIME_ARGS=--nv\nPARTITION=p\nACCOUNT=a\nGRES_RESOURCE=cs:1\n"
		"GRES_NODE=n9\nDISTINIT=none\nDEF_TASKS_PER_NODE=8\nDEF_CPUS_PER_TASK=16\n",
		"DEF_TASKS_PER_NODE:8=8|DEF_CPUS_PER_TASK:9=16|GRES_RESOURCE:5=cs:1|GRES_NODE:6=n9|"
		"CONTAINER_RUNTIME:1=podman|RUNTIME_ARGS:2=--nv|PARTITION:3=p|ACCOUNT:4=a|DISTINIT:7=none");
}

static void test_refused(void) {
	// All bytes of names, from the first to the last.
	check_site("export DEF_NODESazAZ09_=3\n",
		   "f:1: unknown name 'DEF_NODESazAZ09_'; expected one of: SINGULARITY_IMAGE MOUNT_DIRS "
		   "DEF_NODES DEF_TASKS_PER_NODE DEF_CPUS_PER_TASK GRES_RESOURCE GRES_NODE "
		   "CONTAINER_RUNTIME RUNTIME_ARGS PARTITION ACCOUNT SRUN_ARGS DISTINIT");
	for (const char *other = "-.:/@[`{"; *other; other++) {
		const char *name = arena_format(&arena, "DEF%cNODES=3", *other);
		check_site(name, arena_format(&arena, "f:1: '%s' is not NAME=VALUE", name));
	}
	check_site("\nDEF_NODE=3\n", "f:2: unknown name 'DEF_NODE'; did you mean 'DEF_NODES'?");
	check_site("COLOUR=3\n",
		   "f:1: unknown name 'COLOUR'; expected one of: SINGULARITY_IMAGE MOUNT_DIRS DEF_NODES "
		   "DEF_TASKS_PER_NODE DEF_CPUS_PER_TASK GRES_RESOURCE GRES_NODE CONTAINER_RUNTIME "
		   "RUNTIME_ARGS PARTITION ACCOUNT SRUN_ARGS DISTINIT");
	check_site(
		"CSRUN_CYCLIC=1\n",
		"f:1: unknown name 'CSRUN_CYCLIC'; expected one of: SINGULARITY_IMAGE MOUNT_DIRS DEF_NODES "
		"DEF_TASKS_PER_NODE DEF_CPUS_PER_TASK GRES_RESOURCE GRES_NODE CONTAINER_RUNTIME "
		"RUNTIME_ARGS PARTITION ACCOUNT SRUN_ARGS DISTINIT");
	check_site("if true; then\n", "f:1: 'if true; then' is not NAME=VALUE");
	check_site("DEF_NODES = 3\n", "f:1: 'DEF_NODES = 3' is not NAME=VALUE");
	check_site("=3\n", "f:1: '=3' is not NAME=VALUE");
	check_site("DEF_NODES=1\n#\nDEF_NODES=2\n", "f:3: DEF_NODES is already set in line 1");
	check_site("MOUNT_DIRS=/data,$HOME\n",
		   "f:1: MOUNT_DIRS='/data,$HOME': '$' is not expanded here; write the value itself");
	check_site("MOUNT_DIRS=\"`pwd`\"\n",
		   "f:1: MOUNT_DIRS='`pwd`': '`' is not expanded here; write the value itself");
	check_site("MOUNT_DIRS=\"/a\n", "f:1: MOUNT_DIRS: the closing \" is missing");
	check_site("MOUNT_DIRS='/a'/b\n", "f:1: MOUNT_DIRS: '/b' follows the closing '");

	struct site site = {.path = "kept"};
	struct err err = {""};
	checkf(site_parse(&arena, "f", STR("DEF_NODES=1\0"), &site, &err) == -EINVAL, "a NUL byte");
	check_text(err.text, "f: a NUL byte; a text file is expected", "a NUL byte");
	check_text(site.path, "kept", "a failure leaves the output alone");
}

/** An existing csrun_cpu: a shell script with the settings at its top. */
static void test_scripts(void) {
	check_site("#!/bin/bash\n"
		   "# image\n"
		   "SINGULARITY_IMAGE=/x.sif\n"
		   "MOUNT_DIRS=\"/data\"\n"
		   "DEF_NODES=2\n"
		   "GRES_NODE=\n"
		   "OTHER=$(date)\n"
		   "usage() {\n"
		   "    DEF_TASKS_PER_NODE=99\n"
		   "}\n"
		   "while :; do\n"
		   "DEF_CPUS_PER_TASK=4 # a first one\n"
		   "MOUNT_DIRS=\"${MOUNT_DIRS},${EXTRA}\"\n",
		   "SINGULARITY_IMAGE:3=/x.sif|MOUNT_DIRS:4=/data|DEF_NODES:5=2|DEF_CPUS_PER_TASK:12=4|"
		   "GRES_NODE:6=");
	check_site("#!/bin/bash\nMOUNT_DIRS=$HOME\n",
		   "f:2: MOUNT_DIRS='$HOME': '$' is not expanded here; write the value itself");
}

static void check_variables(const char *variables, const char *want) {
	struct env env;
	struct notes notes = {.arena = &arena};
	fixture_env(&env, &arena, variables, ' ');
	site_check_variables(&env, &notes);
	check_text(fixture_notes(&notes), want, "<%s>", variables);
}

static void test_variables(void) {
	check_variables("CSRUN_NODES=3 CSRUN_SITE=/x CSRUN_CYCLIC=1 CSRUNNER=1 PATH=/bin", "");
	check_variables("CSRUN_NODE=3",
			"'CSRUN_NODE' is not a setting of distrun; did you mean 'CSRUN_NODES'?");
	check_variables("CSRUN_COLOUR=3", "'CSRUN_COLOUR' is not a setting of distrun");
}

static void test_paths(void) {
	struct site site;
	struct err err = {""};
	struct site_paths paths = {.system = "/nonexistent/site.conf"};
	checkf(site_read(&arena, &paths, &site, &err) == 0 && !site.path, "no file at all is no error");
	paths.given = "/nonexistent/given.conf";
	paths.given_from = "CSRUN_SITE";
	checkf(site_read(&arena, &paths, &site, &err) == -ENOENT, "a given file has to exist");
	check_part(err.text, "/nonexistent/given.conf", "and is named");
	check_part(err.text, "CSRUN_SITE", "with who told it");
}

int main(void) {
	arena = fixture_arena();
	test_files();
	test_refused();
	test_scripts();
	test_variables();
	test_paths();
	arena_done(&arena);
	return check_done();
}
