// SPDX-License-Identifier: Apache-2.0

/**
 * Lists of cards for NCCL, UCX and NVSHMEM, if these would choose wrongly (src/system/node/rdma.c has the
 * reasons). Two nodes with the same files get the same values.
 */

#include "node/rdma.h"

#include "framework/framework.h"

#include <strings.h>

static const struct {
	const char *name;
	enum rdma_matter matter;
	/** The prefix of the value: '=' stands for whole names. */
	const char *before;
} lines[] = {
	{"NCCL_IB_HCA", RDMA_LIST, "="},	  {"UCX_NET_DEVICES", RDMA_LIST, ""},
	{"NCCL_IB_ADDR_FAMILY", RDMA_FAMILY, ""}, {"NVSHMEM_IB_ADDR_FAMILY", RDMA_FAMILY, ""},
	{"UCX_IB_GID_INDEX", RDMA_INDEX, ""},	  {"NCCL_IB_GID_INDEX", RDMA_INDEX, ""},
	{"NVSHMEM_IB_GID_INDEX", RDMA_INDEX, ""}, {"NVSHMEM_HCA_PREFIX", RDMA_PREFIX, ""},
};

/** Why NCCL needs no list: other settings or plugins choose its cards. NULL: it needs one. */
static const char *why_not_nccl(const struct derivation *d, const struct machine *m,
				const struct rdma *found) {
	const char *off = env_value(d->env, "NCCL_IB_DISABLE"), *net = env_value(d->env, "NCCL_NET");
	const char *plugin = env_value(d->env, "NCCL_NET_PLUGIN");
	return off && strcmp(off, "1") == 0		 ? "NCCL_IB_DISABLE is set"
	       : net && strncasecmp(net, "IB", 3) != 0	 ? "NCCL_NET is set"
	       : plugin && strcmp(plugin, "none") != 0	 ? "NCCL_NET_PLUGIN is set"
	       : machine_count(m, GIB_SCRIPT, NULL) != 0 ? "gIB is here, which sets what it needs"
	       : found->efa				 ? "EFA is here, whose plugin finds its cards"
							 : NULL;
}

static void rdma_derive(struct derivation *d) {
	const struct machine m = {d->env->arena, d->view};
	struct rdma found;
	if (!d->view) {
		for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
			derive_leaves_out(d, lines[i].name, d->unseen);
		}
		return;
	}
	rdma_find(&m, &found);
	const char *nccl = why_not_nccl(d, &m, &found);
	const char *ucx = env_get(d->env, "UCX_TLS") ? "UCX_TLS is set" : NULL;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const char *name = lines[i].name;
		const struct rdma_choice *choice = &found.choices[lines[i].matter];
		const char *other = strncmp(name, "NCCL_IB_", 8) == 0	   ? nccl
				    : strcmp(name, "UCX_NET_DEVICES") == 0 ? ucx
									   : NULL;
		if (env_get(d->env, name) && !env_value(d->env, name)) {
			derive_leaves_out(d, name, "it was set already, and is empty");
		} else if (derive_keeps(d, name)) {
			continue;
		} else if (other || !choice->value) {
			derive_leaves_out(d, name, other ? other : choice->why);
		} else {
			derive(d, name, str_of(arena_format(m.arena, "%s%s", lines[i].before, choice->value)),
			       choice->why);
		}
	}
}

const struct framework framework_rdma = {
	.name = "rdma",
	.about = "lists of cards for NCCL, UCX and NVSHMEM; not in `all`",
	.sets = "NCCL_IB_HCA UCX_NET_DEVICES NCCL_IB_ADDR_FAMILY NVSHMEM_IB_ADDR_FAMILY UCX_IB_GID_INDEX "
		"NCCL_IB_GID_INDEX NVSHMEM_IB_GID_INDEX NVSHMEM_HCA_PREFIX",
	.apart = true,
	.sees_machine = true,
	.derive = rdma_derive,
};
