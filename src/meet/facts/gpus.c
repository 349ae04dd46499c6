// SPDX-License-Identifier: Apache-2.0

/** Checks the GPUs that a program sees. */

#include "facts/findings.h"

#include "base/num.h"

/** HTCondor sets this value for a job that asked for no GPU, on a machine that has GPUs. */
#define NO_GPU "10000"

void gpus_check(const struct facts_from *from, const struct facts *facts, struct findings *out) {
	const struct cluster *c = from->cluster;
	const char *visible = env_value(from->env, "CUDA_VISIBLE_DEVICES");
	const char *devices = facts_find(&facts->list[FACTS_DEVICES], "gpus");
	struct str rest = str_of(visible), one;
	uint64_t n = 0;
	if (visible && strcmp(visible, NO_GPU) == 0) {
		findings_add(out, &(struct finding){.about = "gpus",
						    .text = "CUDA_VISIBLE_DEVICES=" NO_GPU " hides all GPUs: "
							    "HTCondor sets it for a job without request_gpus",
						    .have = "0",
						    .source = "CUDA_VISIBLE_DEVICES"});
	}
	// A rank uses the GPU with the index of its local rank, but the launcher may have given it a single
	// GPU.
	if (!c || c->scope != SCOPE_TASK || c->task.local_rank == UNKNOWN) {
		return;
	}
	while (str_cut(&rest, ',', &one)) {
		n += one.len > 0;
	}
	if (!visible) {
		num_read(str_of(devices), UINT32_MAX, &n);
	}
	if (n && n <= c->task.local_rank) {
		const char *count = arena_format(out->arena, "%lu", (unsigned long)n);
		findings_add(out, &(struct finding){
					  .about = "gpus",
					  .text = arena_format(
						  out->arena,
						  "this rank's local rank is %u, and GPUs that it sees: %s; "
						  "a program that takes the GPU of its local rank fails: let "
						  "it take 0, "
						  "or give each task all GPUs of the node",
						  c->task.local_rank, count),
					  .hint = true,
					  .have = count,
					  .expected = arena_format(out->arena, "%u", c->task.local_rank + 1),
					  .source = visible ? "CUDA_VISIBLE_DEVICES" : "/dev"});
	}
}
