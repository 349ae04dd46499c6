// SPDX-License-Identifier: Apache-2.0

/**
 * A cluster told by hand: --hosts=HOSTLIST (DISTINIT_HOSTS) with --node-rank=N, or without it where this machine finds
 * itself in the list.
 */

#include "cluster/hostlist.h"
#include "cluster/source.h"

#include <errno.h>

static const char *manual_detect(const struct input *in) {
	return in->hosts.value ? in->hosts.from : NULL;
}

static int manual_read(struct input *in, struct placement *out, struct err *err) {
	out->hosts_from = in->hosts.from;
	int r = hostlist_expand(in->arena, in->hosts.from, str_of(in->hosts.value), &out->hosts, err);
	if (r < 0) {
		return r;
	}
	if (in->node_rank.value) {
		out->node_rank_from = in->node_rank.from;
		return parse_u32(in->node_rank.from, in->node_rank.value, &out->node_rank, err);
	}
	if (out->hosts.n <= 1) {
		out->node_rank = 0;
		return 0;
	}
	r = self_find(in, &out->hosts, &out->node_rank, err);
	if (r == 0) {
		return err_set(err, EINVAL,
			       "%s=%s: this machine, %s, is not in the list; pass --node-rank=N (0 to %u)",
			       in->hosts.from, quote(str_of(in->hosts.value)).s,
			       quote(str_of(input_hostname(in))).s, out->hosts.n - 1);
	}
	return r < 0 ? r : 0;
}

const struct source source_manual = {
	.name = "manual",
	.about = "hosts told by hand (--hosts, --node-rank)",
	.known_by = "--hosts or DISTINIT_HOSTS",
	.reads = "DISTINIT_HOSTS DISTINIT_NODE_RANK",
	.detect = manual_detect,
	.read = manual_read,
};
