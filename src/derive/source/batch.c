// SPDX-License-Identifier: Apache-2.0

#include "source/batch.h"

#include "base/num.h"

static uint32_t node_rank(struct input *in, const struct hosts *hosts) {
	uint32_t index = hosts->n == 1 ? 0 : hosts_find_loosely(hosts, in->found.task.host);
	struct err unused;
	if (index < hosts->n || self_find(in, hosts, &index, &unused) == 1) {
		return index;
	}
	// A launch node is not in the list, and a container may have another name. Then only the node index
	// of the launcher is left.
	const char *text = in->found.launcher && in->found.launcher->node
				   ? env_value(in->env, in->found.launcher->node)
				   : NULL;
	return text && num_read_u32(str_of(text), &index) == 0 && index < hosts->n ? index : UNKNOWN;
}

void batch_place(struct input *in, struct placement *out, const char *job_id, const char *array_index) {
	out->scope = SCOPE_ALLOCATION;
	out->node_rank = node_rank(in, &out->hosts);
	out->shared_nodes = true;
	out->job_id = job_id;
	num_read_u32(str_of(array_index), &out->step);
}
