// SPDX-License-Identifier: Apache-2.0

/** --expect: what it takes, and how what is there is compared. Folders are tried in tests/e2e/expect.bats. */

#include "facts/expect.h"

#include "check.h"
#include "fixture.h"

#include <errno.h>

static struct arena arena;

/** The facts "NAME=VALUE" joined by ' ', sorted; devices and limits are not told apart. */
static struct facts *facts_of(const char *text) {
	struct facts *facts = arena_alloc(&arena, sizeof(*facts));
	char **words = fixture_split(&arena, text, ' ');
	struct fact *at = arena_array(&arena, 20, sizeof(*at));
	uint32_t n = 0;
	memset(facts, 0, sizeof(*facts));
	for (; *words; words++) {
		char *value = strchr(*words, '=');
		*value = '\0';
		at[n++] = (struct fact){*words, value + 1};
	}
	facts->list[FACTS_LIMITS] = (struct fact_list){at, n};
	return facts;
}

/** Whether @list is met by @facts. */
static void judge(const char *list, const char *facts, bool met) {
	const struct facts_from from = {.arena = &arena};
	struct expectations all;
	struct findings findings = {.arena = &arena};
	struct err err = {0};
	int signal;
	if (!checkf(expect_read(&arena, "--expect", list, &all, &err) == 0, "%s: %s", list, err.text)) {
		return;
	}
	expect_look(&all, &from, facts_of(facts), 10, &signal, &err);
	expect_check(&all, &findings);
	checkf((findings.n == 0) == met, "%s, where %s: %s", list, facts,
	       findings.n ? findings.at[0].text : "no finding");
}

static void refuse(const char *list, const char *error) {
	struct expectations all;
	struct err err = {0};
	checkf(expect_read(&arena, "--expect", list, &all, &err) == -EINVAL, "'%s' is refused", list);
	check_text(err.text, error, "'%s'", list);
}

static void test_relations(void) {
	judge("gpus=8", "gpus=8", true);
	judge("gpus=8", "gpus=7", false);
	judge("gpus=8", "gpus=9", false);
	judge("gpus>=8", "gpus=8", true);
	judge("gpus>=8", "gpus=7", false);
	judge("gpus<=8", "gpus=8", true);
	judge("gpus<=8", "gpus=9", false);
	judge("gpus=0", "gpus=0", true);
	judge("gpus=8", "gpus=?", false);
	judge("gpus>=0", "cpus=1", false);
	judge("gpus=8,cpus>=2", "cpus=2 gpus=8", true);
	judge("gpus=8,cpus>=2", "cpus=1.99 gpus=8", false);
	judge("rdma>=8", "rdma_active=8", true);
	judge("mtu>=9000", "mtu=1500", false);
}

static void test_units(void) {
	judge("cpus>=1.5", "cpus=1.5", true);
	judge("cpus>=1.55", "cpus=1.5", false);
	judge("cpus<=0.25", "cpus=0.25", true);
	judge("memory>=1GiB", "memory_mib=1024", true);
	judge("memory>=1GiB", "memory_mib=1023", false);
	judge("memory>=1Gi", "memory_mib=1024", true);
	judge("memory>=1G", "memory_mib=1023", false);
	judge("memory>=1GB", "memory_mib=954", true);
	judge("memory>=1GB", "memory_mib=953", false);
	judge("memory=1GB", "memory_mib=953", true);
	judge("memory<=2TiB", "memory_mib=2097152", true);
	judge("shm>=64MiB", "shm_mib=64", true);
	judge("memlock>=64KiB", "memlock_kib=64", true);
	judge("memlock=unlimited", "memlock_kib=unlimited", true);
	judge("memlock=unlimited", "memlock_kib=65536", false);
	judge("memlock>=1TiB", "memlock_kib=unlimited", true);
	judge("nofile>=65536", "nofile=unlimited", true);
	judge("nofile<=65536", "nofile=unlimited", false);
	judge("nofile>=unlimited", "nofile=1024", false);
}

static void test_versions(void) {
	judge("driver>=550", "gpu_driver=550.54.14", true);
	judge("driver>=550.54", "gpu_driver=550.54.14", true);
	judge("driver>=550.55", "gpu_driver=550.54.14", false);
	judge("driver>=550.9", "gpu_driver=550.10", true);
	judge("driver>=550.0.1", "gpu_driver=550", false);
	judge("driver=550", "gpu_driver=550.54.14", true);
	judge("driver=550.54", "gpu_driver=550.53", false);
	judge("driver<=550", "gpu_driver=550.54.14", true);
	judge("driver<=550", "gpu_driver=551", false);
	judge("driver>=550", "gpu_driver=?", false);
}

static void test_clock(void) {
	struct expectations all;
	struct err err;
	check(expect_read(&arena, "--expect", "clock<=2s,gpus=1,clock<=500ms", &all, &err) == 0);
	const struct expectation *clock = expect_clock(&all);
	check(clock && clock->number == 500);
	check_text(clock ? clock->text : "", "clock<=500ms", "the strictest");
	check(expect_read(&arena, "--expect", "gpus=1", &all, &err) == 0 && !expect_clock(&all));
}

static void test_refused(void) {
	char unknown[300];
	snprintf(unknown, sizeof(unknown), "--expect: 'gpu=8': expected a list of %s; did you mean 'gpus'?",
		 expect_forms);
	refuse("gpu=8", unknown);
	snprintf(unknown, sizeof(unknown), "--expect: ',': expected a list of %s", expect_forms);
	refuse(",", unknown);
	refuse("gpus",
	       "--expect: 'gpus': expected gpus, then =, >= or <=, then a value; in a shell, quote what has '<' or '>'");
	refuse("gpus>8",
	       "--expect: 'gpus>8': expected gpus, then =, >= or <=, then a value; in a shell, quote what has '<' or '>'");
	refuse("gpus>=many", "--expect: 'gpus>=many': expected a number after 'gpus>='");
	refuse("gpus==8", "--expect: 'gpus==8': expected a number after 'gpus='");
	refuse("gpus=unlimited", "--expect: 'gpus=unlimited': expected a number after 'gpus='");
	refuse("nofile>=x", "--expect: 'nofile>=x': expected a number or unlimited after 'nofile>='");
	refuse("cpus>=1.234", "--expect: 'cpus>=1.234': expected a number such as 64 or 1.5 after 'cpus>='");
	refuse("shm>=64", "--expect: 'shm>=64': expected a size with its unit, such as 64GiB, after 'shm>='");
	refuse("shm>=64GiBs",
	       "--expect: 'shm>=64GiBs': expected a size with its unit, such as 64GiB, after 'shm>='");
	refuse("driver>=new",
	       "--expect: 'driver>=new': expected a version such as 550 or 550.54 after 'driver>='");
	refuse("clock=2s", "--expect: 'clock=2s': expected clock, then <=, then a value");
	refuse("path>=/ckpt", "--expect: 'path>=/ckpt': expected path, then =, then a value");
	refuse("path=ckpt", "--expect: 'path=ckpt': expected an absolute path of a folder after 'path='");
}

int main(void) {
	arena = fixture_arena();
	test_relations();
	test_units();
	test_versions();
	test_clock();
	test_refused();
	return check_done();
}
