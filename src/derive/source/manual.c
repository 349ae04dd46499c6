// SPDX-License-Identifier: Apache-2.0

/**
 * A cluster that the user describes by options, or by their variables (DISTINIT_HOSTS, ...):
 *
 *     --hosts=HOSTLIST [--node-rank=N]      without the number, this machine is looked for in the list
 *     --nnodes=N --node-rank=N --master-addr=HOST [--master-port=PORT]      as torchrun's users write it
 */

#include "cluster/hostlist.h"
#include "cluster/source.h"

/** Whether the user gave both numbers and the master. A list of the hosts has precedence over these. */
static bool is_numbered(const struct input *in) {
	bool listed = in->hostfile.value || in->read.value;
	bool master = in->master_addr.value || env_value(in->env, "MASTER_ADDR") || given_nnodes(in) == 1;
	return !listed && in->nnodes.value && in->node_rank.value && master;
}

static const char *manual_detect(const struct input *in) {
	return in->hosts.value ? in->hosts.from : is_numbered(in) ? in->nnodes.from : NULL;
}

static int manual_read(struct input *in, struct placement *out, struct err *err) {
	if (!in->hosts.value) {
		out->nnodes_from = in->nnodes.from;
		out->node_rank_from = in->node_rank.from;
		int r = parse_nnodes(in->nnodes.from, in->nnodes.value, &out->nnodes, err);
		return r < 0 ? r : parse_u32(in->node_rank.from, in->node_rank.value, &out->node_rank, err);
	}
	out->hosts_from = in->hosts.from;
	int r = hostlist_expand(in->arena, in->hosts.from, str_of(in->hosts.value), &out->hosts, err);
	return r < 0 ? r : self_node_rank(in, in->hosts.value, out, err);
}

const struct source source_manual = {
	.name = "manual",
	.about = "a cluster that you describe (--hosts; or --nnodes, --node-rank and --master-addr)",
	.known_by =
		"--hosts or DISTINIT_HOSTS; or --nnodes, --node-rank and --master-addr, or their variables",
	.reads = READS("DISTINIT_HOSTS", "DISTINIT_NODE_RANK", "DISTINIT_NNODES", "DISTINIT_MASTER_ADDR"),
	.lacks = "the names of the nodes: pass --hosts if you need TF_CONFIG",
	.detect = manual_detect,
	.read = manual_read,
	.by_hand = true,
};
