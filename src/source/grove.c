// SPDX-License-Identifier: Apache-2.0

/**
 * Leader and workers that Dynamo runs on Grove. The first worker of a group has
 *
 *     GROVE_PCLQ_NAME=dyn-0-decode-0-decode-wkr   the leader: dyn-0-decode-0-decode-ldr
 *     GROVE_PCLQ_POD_INDEX=0                      within its clique, so it is node 1
 *     GROVE_HEADLESS_SERVICE=dyn-0.default.svc.cluster.local
 *     GROVE_PCSG_TEMPLATE_NUM_PODS=2              in newer versions: the pods of the group
 *
 * A pod is called CLIQUE-INDEX.SERVICE. Cliques whose names end otherwise are ignored.
 *
 * Reference: deploy/operator/internal/dynamo/grove.go of Dynamo; docs/user-guide, "Environment
 * variables" of Grove.
 */

#include "base/buf.h"
#include "cluster/source.h"

#define CLIQUE	"GROVE_PCLQ_NAME"
#define INDEX	"GROVE_PCLQ_POD_INDEX"
#define SERVICE "GROVE_HEADLESS_SERVICE"
#define SIZE	"GROVE_PCSG_TEMPLATE_NUM_PODS"

/** Bytes of "ldr" and of "wkr". */
#define ROLE 3

static bool ends(struct str name, struct str end) {
	return name.len > end.len && str_eq(str_from(name, name.len - end.len), end);
}

static const char *grove_detect(const struct input *in) {
	struct str clique = str_of(env_value(in->env, CLIQUE));
	return (ends(clique, STR("-ldr")) || ends(clique, STR("-wkr"))) && env_value(in->env, INDEX) &&
			       env_value(in->env, SERVICE)
		       ? CLIQUE
		       : NULL;
}

static int grove_read(struct input *in, struct placement *out, struct err *err) {
	const char *clique = env_get(in->env, CLIQUE), *service = env_get(in->env, SERVICE);
	const char *size_from = in->nnodes.from;
	int group = (int)strlen(clique) - ROLE;
	uint32_t index = 0, n = told_nnodes(in), empty;
	struct buf names = BUF(in->arena);
	int r = need_u32(in, INDEX, CLIQUE, &index, err);
	if (n == UNKNOWN && env_value(in->env, SIZE)) {
		size_from = SIZE;
		r = r < 0 ? r : need_nnodes(in, SIZE, CLIQUE, &n, err);
	}
	out->node_rank_from = INDEX;
	out->node_rank = index + !ends(str_of(clique), STR("-ldr"));
	r = r < 0 ? r : check_below(INDEX, out->node_rank, size_from, n, err);
	if (r < 0) {
		return r;
	}
	buf_putf(&names, "%.*sldr-0.%s", group, clique, service);
	if (n == UNKNOWN) {
		out->master_addr = str_of(buf_text(&names));
		out->master_addr_from = "the leader's name";
		return 0;
	}
	for (uint32_t i = 0; i + 1 < n; i++) {
		buf_putf(&names, ",%.*swkr-%u.%s", group, clique, i, service);
	}
	out->hosts_from = size_from;
	return hosts_split(in->arena, size_from, buf_text(&names), ',', &out->hosts, &empty, err);
}

const struct source source_grove = {
	.name = "grove",
	.about = "Dynamo's leader and workers on Grove",
	.known_by = CLIQUE " that ends with -ldr or -wkr, " INDEX " and " SERVICE,
	.reads = READS(CLIQUE, INDEX, SERVICE, SIZE),
	.leaves = "cliques of other names; GROVE_PCSG_INDEX, which numbers groups",
	.lacks = "in older versions the number of nodes: pass --nnodes",
	.detect = grove_detect,
	.read = grove_read,
};
