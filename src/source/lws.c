// SPDX-License-Identifier: Apache-2.0

/**
 * Groups of a LeaderWorkerSet. The second pod of a group of three has
 *
 *     LWS_LEADER_ADDRESS=vllm-0.vllm.serving   LWS_GROUP_SIZE=3   LWS_WORKER_INDEX=1     0: the leader
 *
 * and worker i is called "vllm-0-i.vllm.serving": what stands behind the leader's own name is the subdomain, which may be the
 * group's. Where TPU_* are there too, they count the pods that have a TPU, and the leader may have none.
 *
 * Reference: pkg/utils/pod/pod_utils.go of LeaderWorkerSet.
 */

#include "cluster/source.h"
#include "source/pods.h"

#include <errno.h>

#define LEADER "LWS_LEADER_ADDRESS"
#define SIZE   "LWS_GROUP_SIZE"
#define IDX    "LWS_WORKER_INDEX"

static const char *lws_detect(const struct input *in) {
	return env_value(in->env, SIZE) ? SIZE : NULL;
}

static int lws_read(struct input *in, struct placement *out, struct err *err) {
	struct buf names = BUF(in->arena), worker = BUF(in->arena);
	const char *leader = "";
	uint32_t n, empty;
	out->hosts_from = SIZE;
	out->node_rank_from = IDX;
	int r = need_nnodes(in, SIZE, SIZE, &n, err);
	r = r < 0 ? r : need_value(in, LEADER, SIZE, &leader, err);
	r = r < 0 ? r : need_u32(in, IDX, SIZE, &out->node_rank, err);
	r = r < 0 ? r : check_below(IDX, out->node_rank, SIZE, n, err);
	if (r < 0) {
		return r;
	}
	struct str label = pod_label(str_of(leader));
	if (label.len == 0 || strchr(leader, ',')) {
		return err_set(err, EINVAL, LEADER "=%s is no name of a pod", quote(str_of(leader)).s);
	}
	buf_puts(&names, leader);
	buf_putc(&names, ',');
	buf_put(&worker, label);
	buf_putc(&worker, '-');
	pods_put(&names, buf_str(&worker), 1, n - 1, str_from(str_of(leader), label.len));
	return hosts_split(in->arena, SIZE, buf_text(&names), ',', &out->hosts, &empty, err);
}

const struct source source_lws = {
	.name = "lws",
	.about = "LeaderWorkerSet group of pods",
	.known_by = SIZE,
	.reads = SIZE " " LEADER " " IDX,
	.leaves = "TPU_*: they do not count a leader without a TPU",
	.detect = lws_detect,
	.read = lws_read,
};
