// SPDX-License-Identifier: Apache-2.0

/**
 * A leader and its workers on Grove, of Dynamo or with the names of Grove's own guide. The first
 * worker of a group has
 *
 *     GROVE_PCLQ_NAME=dyn-0-decode-0-decode-wkr   the leader: dyn-0-decode-0-decode-ldr
 *     GROVE_PCLQ_POD_INDEX=0                      within its clique, so it is node 1
 *     GROVE_HEADLESS_SERVICE=dyn-0.default.svc.cluster.local
 *     GROVE_PCSG_TEMPLATE_NUM_PODS=2              in newer versions: the pods of all cliques of the group
 *
 * A pod is called CLIQUE-INDEX.SERVICE. Only Dynamo calls cliques "-ldr" and "-wkr". The words
 * "leader" and "worker" count only as the whole name of a clique in its group:
 *
 *     GROVE_PCSG_NAME=llm-0-model   GROVE_PCSG_INDEX=1   GROVE_PCLQ_NAME=llm-0-model-1-worker
 *
 * Cliques of other names are ignored.
 *
 * Reference: deploy/operator/internal/dynamo/grove.go of Dynamo; of Grove (fcc3b3bb, 2026-08),
 * docs/user-guide, "Environment variables", and operator/api/common/constants.
 */

#include "base/buf.h"
#include "cluster/source.h"

#include <errno.h>

#define CLIQUE	"GROVE_PCLQ_NAME"
#define INDEX	"GROVE_PCLQ_POD_INDEX"
#define SERVICE "GROVE_HEADLESS_SERVICE"
#define GROUP	"GROVE_PCSG_NAME"
#define NUMBER	"GROVE_PCSG_INDEX"
#define SIZE	"GROVE_PCSG_TEMPLATE_NUM_PODS"

/** The ends of cliques' names: Dynamo's leader and workers, then those of Grove's guide. */
static const char *const roles[] = {"ldr", "wkr", "leader", "worker"};
#define ROLES	     4
#define DYNAMO_ROLES 2

/**
 * The index of this clique's role in `roles`; ROLES if it has none. *@group is the rest of the clique's
 * name.
 */
static uint32_t find_role(const struct input *in, struct str *group) {
	struct str clique = str_of(env_value(in->env, CLIQUE));
	const char *set = env_value(in->env, GROUP), *number = env_value(in->env, NUMBER);
	struct str front = set && number ? str_of(arena_format(in->arena, "%s-%s-", set, number)) : STR("");
	uint32_t i = 0;
	for (; i < ROLES; i++) {
		size_t len = strlen(roles[i]);
		*group = (struct str){clique.p, clique.len > len + 1 ? clique.len - len : 0};
		bool whole = i < DYNAMO_ROLES ? group->len && group->p[group->len - 1] == '-'
					      : front.len && str_eq(*group, front);
		if (whole && str_is(str_from(clique, group->len), roles[i])) {
			break;
		}
	}
	return i;
}

static const char *grove_detect(const struct input *in) {
	struct str group;
	return env_value(in->env, CLIQUE) && env_value(in->env, INDEX) && env_value(in->env, SERVICE) &&
			       find_role(in, &group) < ROLES
		       ? CLIQUE
		       : NULL;
}

static int grove_read(struct input *in, struct placement *out, struct err *err) {
	const char *service = env_get(in->env, SERVICE), *size_from = in->nnodes.from;
	uint32_t index = 0, pods = UNKNOWN, n = given_nnodes(in);
	struct str group;
	uint32_t role = find_role(in, &group), leader = role / 2 * 2;
	struct buf names = BUF(in->arena);
	int r = need_u32(in, INDEX, CLIQUE, &index, err);
	if (r == 0 && env_value(in->env, SIZE)) {
		r = need_nnodes(in, SIZE, CLIQUE, &pods, err);
	}
	// --nnodes may be smaller: pods of a third clique are not nodes.
	if (r == 0 && n != UNKNOWN && n > pods) {
		return err_set(err, EINVAL, "%s=%u, but " SIZE "=%u: the group has fewer pods", size_from, n,
			       pods);
	}
	if (n == UNKNOWN) {
		size_from = SIZE;
		n = pods;
	}
	if (r == 0 && role == leader && index > 0) {
		return err_set(err, EINVAL,
			       INDEX "=%u: distinit supports groups with one leader only, and " CLIQUE
				     "=%s is the leader's; pass --hosts and --node-rank",
			       index, quote_text(env_get(in->env, CLIQUE)).s);
	}
	out->node_rank_from = INDEX;
	out->node_rank = index + (role != leader);
	r = r < 0 ? r : check_below(INDEX, out->node_rank, size_from, n, err);
	if (r < 0) {
		return r;
	}
	buf_putf(&names, "%.*s%s-0.%s", (int)group.len, group.p, roles[leader], service);
	if (n == UNKNOWN) {
		out->master_addr = str_of(buf_text(&names));
		out->master_addr_from = "the leader's name";
		return 0;
	}
	for (uint32_t i = 0; i + 1 < n; i++) {
		buf_putf(&names, ",%.*s%s-%u.%s", (int)group.len, group.p, roles[leader + 1], i, service);
	}
	return place_hosts(in, size_from, buf_text(&names), ',', out, err);
}

const struct source source_grove = {
	.name = "grove",
	.about = "leader and workers on Grove, also Dynamo's",
	.known_by = CLIQUE " that ends with -ldr or -wkr, or is {" GROUP "}-{" NUMBER
			   "}-leader or -worker; " INDEX " and " SERVICE,
	.reads = READS(CLIQUE, INDEX, SERVICE, SIZE, GROUP, NUMBER),
	.leaves = "cliques of other names",
	.lacks = "the number of nodes, in older versions: pass --nnodes",
	.detect = grove_detect,
	.read = grove_read,
};
