// SPDX-License-Identifier: Apache-2.0

/** Names of pods, taken apart and put together. */

#include "source/pods.h"

#include "check.h"
#include "fixture.h"

static struct arena arena;

/** @want: "PREFIX INDEX SUFFIX", or NULL where @name is no numbered pod's. */
static void check_read(const char *name, const char *want) {
	struct pod_name pod = {0};
	bool is_pod = pod_read(str_of(name), &pod);
	const char *got = !is_pod ? "none"
				  : arena_format(&arena, "%.*s %u %.*s", (int)pod.prefix.len, pod.prefix.p,
						 pod.index, (int)pod.suffix.len, pod.suffix.p);
	checkf(strcmp(got, want ? want : "none") == 0, "'%s': got '%s'", name, got);
}

static void check_put(const char *prefix, uint32_t first, uint32_t n, const char *suffix, const char *want) {
	struct buf names = BUF(&arena);
	pods_put(&names, str_of(prefix), first, n, str_of(suffix));
	checkf(strcmp(buf_text(&names), want) == 0, "got '%s'", buf_text(&names));
}

static void check_first(const char *name, bool want) {
	checkf(pod_is_first(str_of(name), STR("-master-0")) == want, "'%s'", name);
}

static void check_rank(const char *master, const char *self, uint32_t want) {
	uint32_t got = pod_rank(str_of(master), str_of(self));
	checkf(got == want, "'%s' beside '%s': got %u", self, master, got);
}

int main(void) {
	arena = fixture_arena();
	check_read("train-2", "train- 2 ");
	check_read("train-2.svc.ns", "train- 2 .svc.ns");
	check_read("a-b-007.c-9", "a-b- 7 .c-9");
	check_read("train", NULL);
	check_read("train-", NULL);
	check_read("-2", NULL);
	check_read("train2", NULL);
	check_read("train-2x", NULL);
	check_read("train.a-2", NULL);
	check_read("train--2", "train-- 2 ");
	check_read("train-4294967295", NULL);
	check_read("", NULL);

	check_put("a-", 0, 3, ".s", "a-0.s,a-1.s,a-2.s,");
	check_put("a-", 9, 2, "", "a-9,a-10,");
	check_put("a-", 1, 0, ".s", "");

	check_rank("j-master-0", "j-master-0", 0);
	check_rank("j-master-0.svc", "j-master-0", 0);
	check_rank("j-master-0", "j-worker-0.svc", 1);
	check_rank("j-master-0", "j-worker-41", 42);
	check_rank("j-master-0", "k-worker-0", UNKNOWN);
	check_rank("j-master-0", "j-worker", UNKNOWN);
	check_rank("j-master-0", "j-x-worker-0", UNKNOWN);
	check_rank("j-master-0", "j-worker-4294967294", UNKNOWN);
	check_rank("j-master-1", "j-worker-0", UNKNOWN);
	check_rank("j-master-0", "", UNKNOWN);
	check_rank("", "j-worker-0", UNKNOWN);

	check_first("job-master-0", true);
	check_first("job-master-0.job.ns", true);
	check_first("-master-0", false);
	check_first("job-master-00", false);
	check_first("job-master-1", false);
	check_first("job.x-master-0", false);
	check_first("", false);
	arena_done(&arena);
	return check_done();
}
