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
#include "source/pods.h"

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

/** The names of the leader and of @n - 1 workers. */
static const char *put_names(struct input *in, struct str group, uint32_t n) {
	struct buf names = BUF(in->arena), prefix = BUF(in->arena), service = BUF(in->arena);
	buf_putf(&service, ".%s", env_get(in->env, SERVICE));
	buf_put(&prefix, group);
	buf_puts(&prefix, "ldr-");
	pods_put(&names, buf_str(&prefix), 0, 1, buf_str(&service));
	prefix.len = group.len;
	buf_puts(&prefix, "wkr-");
	pods_put(&names, buf_str(&prefix), 0, n - 1, buf_str(&service));
	return buf_text(&names);
}

static int grove_read(struct input *in, struct placement *out, struct err *err) {
	struct str clique = str_of(env_value(in->env, CLIQUE)), group = {clique.p, clique.len - ROLE};
	bool leader = ends(clique, STR("-ldr"));
	uint32_t index = 0, n = told_nnodes(in), empty;
	const char *size_from = in->nnodes.from;
	int r = need_u32(in, INDEX, CLIQUE, &index, err);
	if (n == UNKNOWN && env_value(in->env, SIZE)) {
		size_from = SIZE;
		r = r < 0 ? r : need_nnodes(in, SIZE, CLIQUE, &n, err);
	}
	out->node_rank_from = INDEX;
	out->node_rank = leader ? index : index + 1;
	r = r < 0 || n == UNKNOWN ? r : check_below(INDEX, out->node_rank, size_from, n, err);
	if (r < 0) {
		return r;
	}
	const char *names = put_names(in, group, n == UNKNOWN ? 1 : n);
	if (n == UNKNOWN) {
		out->master_addr = (struct str){names, strlen(names) - 1};
		out->master_addr_from = "the leader's name";
		return 0;
	}
	out->hosts_from = size_from;
	return hosts_split(in->arena, size_from, names, ',', &out->hosts, &empty, err);
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
