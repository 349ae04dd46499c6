// SPDX-License-Identifier: Apache-2.0

#include "srun/nodes.h"

#include "check.h"
#include "fixture.h"

static struct arena arena;

static void check_cpus(const char *text, uint32_t want) {
	uint32_t got = nodes_least_cpus(str_of(text));
	checkf(got == want, "SLURM_JOB_CPUS_PER_NODE=%s: got %u, want %u", text, got, want);
}

static void check_sinfo(const char *text, const char *partition, const char *want) {
	struct nodes nodes = {0};
	bool read = nodes_read_sinfo(str_of(text), partition, &nodes);
	check_text(read ? arena_format(&arena, "%u of %u", nodes.n, nodes.cpus) : "not understood", want,
		   "<%s>, partition %s", text, partition ? partition : "by default");
}

int main(void) {
	arena = fixture_arena();
	check_cpus("8", 8);
	check_cpus("8(x4)", 8);
	check_cpus("16(x2),4,72(x9)", 4);
	check_cpus("", 0);
	check_cpus("many", 0);
	check_cpus("8,x", 0);

	check_sinfo("test*|4|8\n", NULL, "4 of 8");
	check_sinfo("test*|4|8\nbig|2|128\n", NULL, "4 of 8");
	check_sinfo("test*|4|8\nbig|2|128\n", "big", "2 of 128");
	check_sinfo("test*|4|8\ntest*|3|16+\n", NULL, "7 of 8");
	check_sinfo("test*|4|8\n", "test", "4 of 8");
	check_sinfo("a|4|8\nb|2|4\n", NULL, "6 of 4");
	check_sinfo("a|4|8\n", "x", "0 of 0");
	check_sinfo("", NULL, "0 of 0");
	check_sinfo("slurm is down\n", NULL, "not understood");
	check_sinfo("a|x|8\n", NULL, "not understood");
	arena_done(&arena);
	return check_done();
}
