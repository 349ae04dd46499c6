// SPDX-License-Identifier: Apache-2.0

/** --hosts=HOSTLIST (DISTINIT_HOSTS) with --node-rank=N; without that, this machine is looked for in it. */

#include "cluster/hostlist.h"
#include "cluster/source.h"

static const char *manual_detect(const struct input *in) {
	return in->hosts.value ? in->hosts.from : NULL;
}

static int manual_read(struct input *in, struct placement *out, struct err *err) {
	out->hosts_from = in->hosts.from;
	int r = hostlist_expand(in->arena, in->hosts.from, str_of(in->hosts.value), &out->hosts, err);
	return r < 0 ? r : self_told(in, in->hosts.value, out, err);
}

const struct source source_manual = {
	.name = "manual",
	.about = "hosts that you list (--hosts, --node-rank)",
	.known_by = "--hosts or DISTINIT_HOSTS",
	.reads = READS("DISTINIT_HOSTS", "DISTINIT_NODE_RANK"),
	.detect = manual_detect,
	.read = manual_read,
	.by_hand = true,
};
