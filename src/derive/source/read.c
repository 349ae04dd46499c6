// SPDX-License-Identifier: Apache-2.0

/**
 * A manager that distinit does not know, described by the user as a row (row.h):
 *
 *     --read='hosts=ACME_NODES node-rank=ACME_INDEX'      or DISTINIT_READ
 *
 * Without node-rank, distinit finds this machine in the list, as with --hosts.
 */

#include "cluster/source.h"
#include "source/row.h"

#include <errno.h>

static const char *read_detect(const struct input *in) {
	const char *by;
	return in->read.value && row_matches(in, in->read.value, &by) ? in->read.from : NULL;
}

static int read_read(struct input *in, struct placement *out, struct err *err) {
	int r = row_read(in, in->read.value, in->read.from, out, err);
	if (r == 0 && in->node_rank.value && out->node_rank_from) {
		return err_set(err, EINVAL,
			       "%s and node-rank in %s contradict each other; one of them is enough",
			       in->node_rank.from, in->read.from);
	}
	bool finds_itself = out->hosts.n && !out->node_rank_from && out->scope == SCOPE_NODE;
	if (r == 0 && (in->node_rank.value || finds_itself)) {
		r = self_node_rank(in, out->hosts_from ? env_value(in->env, out->hosts_from) : NULL, out,
				   err);
	}
	return r;
}

const struct source source_read = {
	.name = "read",
	.about = "a manager that the user describes (--read)",
	.known_by = "--read or DISTINIT_READ",
	.reads = READS("DISTINIT_READ", "DISTINIT_NODE_RANK"),
	.detect = read_detect,
	.read = read_read,
	.by_hand = true,
};
