// SPDX-License-Identifier: Apache-2.0

/**
 * Groups of a LeaderWorkerSet. The second pod of a group of three has
 *
 *     LWS_LEADER_ADDRESS=vllm-0.vllm.serving   LWS_GROUP_SIZE=3   LWS_WORKER_INDEX=1
 *
 * The leader has index 0. Worker i is called "vllm-0-i.vllm.serving". The part after the leader's
 * own name is the subdomain, which may be that of the group. If TPU_* are also set, they count only
 * containers with a TPU: the leader may have none, and a pod may have several, as in
 * TPU_WORKER_HOSTNAMES=vllm-0.vllm,vllm-0-1.vllm,vllm-0-1.vllm.
 *
 * Reference: pkg/utils/pod/pod_utils.go, pkg/utils/accelerators/tpu.go of LeaderWorkerSet.
 */

#include "cluster/source.h"
#include "source/pods.h"

#include <errno.h>

#define LEADER "LWS_LEADER_ADDRESS"
#define SIZE   "LWS_GROUP_SIZE"
#define IDX    "LWS_WORKER_INDEX"
#define TPUS   "TPU_WORKER_HOSTNAMES"

/** The index of the pod @name in the group whose leader has the label @leader, or UNKNOWN. */
static uint32_t index_of(struct str leader, struct str name) {
	struct pod_name pod;
	if (str_eq(host_label(name), leader)) {
		return 0;
	}
	bool worker = pod_read(name, &pod) && pod.prefix.len == leader.len + 1 && str_starts(name, leader);
	return worker ? pod.index : UNKNOWN;
}

/** Count the containers of pods, if some have several: each is a JAX process. An unlisted pod has one. */
static void count_containers(const struct input *in, struct str leader, uint32_t n, struct placement *out) {
	struct str rest = str_of(env_value(in->env, TPUS)), name;
	uint32_t *counts = arena_array(in->arena, n, sizeof(*counts));
	bool several = false;
	memset(counts, 0, n * sizeof(*counts));
	while (str_cut(&rest, ',', &name)) {
		uint32_t i = index_of(leader, name);
		if (i < n) {
			several |= ++counts[i] > 1;
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		counts[i] += counts[i] == 0;
	}
	out->tasks_per_node = several ? counts : NULL;
}

static int lws_read(struct input *in, struct placement *out, struct err *err) {
	struct buf names = BUF(in->arena), worker = BUF(in->arena);
	const char *leader = "";
	uint32_t n;
	out->node_rank_from = IDX;
	int r = need_nnodes(in, SIZE, SIZE, &n, err);
	r = r < 0 ? r : need_value(in, LEADER, SIZE, &leader, err);
	r = r < 0 ? r : need_u32(in, IDX, SIZE, &out->node_rank, err);
	r = r < 0 ? r : check_below(IDX, out->node_rank, SIZE, n, err);
	if (r < 0) {
		return r;
	}
	struct str label = host_label(str_of(leader));
	if (label.len == 0 || strchr(leader, ',')) {
		return err_set(err, EINVAL,
			       LEADER "=%s is not a pod name; a name such as group-0.group is expected",
			       quote_text(leader).s);
	}
	if (!in->found.launcher && env_value(in->env, TPUS)) {
		count_containers(in, label, n, out);
	}
	buf_puts(&names, leader);
	buf_putc(&names, ',');
	buf_put(&worker, label);
	buf_putc(&worker, '-');
	pods_put(&names, buf_str(&worker), 1, n - 1, str_from(str_of(leader), label.len));
	return place_hosts(in, SIZE, buf_text(&names), ',', out, err);
}

const struct source source_lws = {
	.name = "lws",
	.about = "LeaderWorkerSet group of pods",
	.reads = READS(SIZE, LEADER, IDX, TPUS),
	.leaves = "TPU_WORKER_ID: it does not count a leader without a TPU",
	.row = "with=" SIZE,
	.read = lws_read,
};
