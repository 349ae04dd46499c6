// SPDX-License-Identifier: Apache-2.0

/**
 * torch.distributed's init_process_group("env://"): MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE.
 * Also LOCAL_RANK and LOCAL_WORLD_SIZE, which torchrun sets and scripts read.
 *
 * Reference: torch/distributed/rendezvous.py of PyTorch. An IPv6 address has no brackets there.
 */

#include "cluster/rendezvous.h"
#include "framework/framework.h"

static void derive_known(struct derivation *d, const char *name, uint32_t value, const char *why) {
	if (value != UNKNOWN) {
		derive_noted(d, name, value, why);
	} else if (!derive_keeps(d, name)) {
		derive_leaves_out(d, name, "the launcher does not set it");
	}
}

static const char *const ranks[] = {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", NULL};

static void derive_ranks(struct derivation *d) {
	const struct cluster *c = d->cluster;
	if (d->ranks == RANKS_NEVER) {
		derive_leaves_all_out(d, ranks, "--ranks=never");
	} else if (c->scope == SCOPE_TASK) {
		derive_known(d, "RANK", c->task.rank, "this process's rank");
		derive_known(d, "WORLD_SIZE", c->task.world_size, "the number of ranks");
		derive_known(d, "LOCAL_RANK", c->task.local_rank, "this process's rank on its node");
		derive_known(d, "LOCAL_WORLD_SIZE", c->task.local_size, "the number of ranks on this node");
	} else if (c->scope == SCOPE_ALLOCATION) {
		derive_leaves_all_out(d, ranks, "this process is not a rank; the launcher's tasks are");
	} else if (d->ranks == RANKS_AUTO) {
		derive_leaves_all_out(d, ranks,
				      "one process per node: torchrun or the like starts the ranks "
				      "(--ranks=always makes this process one)");
	} else {
		derive_known(d, "RANK", cluster_rendezvous_rank(c),
			     "--ranks=always: the node's rank; the master's is 0");
		derive_known(d, "WORLD_SIZE", c->nnodes, "--ranks=always: one rank per node");
		derive_number(d, "LOCAL_RANK", 0, "--ranks=always: one rank per node");
		derive_number(d, "LOCAL_WORLD_SIZE", 1, "--ranks=always: one rank per node");
	}
}

static void torch_derive(struct derivation *d) {
	derive_master_addr(d, "MASTER_ADDR");
	if (is_service_link(env_value(d->env, "MASTER_PORT"))) {
		derive_replaces_link(d, "MASTER_PORT", "master");
	}
	derive_number(d, "MASTER_PORT", d->cluster->master_port, d->cluster->master_port_why);
	derive_ranks(d);
}

const struct framework framework_torch = {
	.name = "torch",
	.about = "torch.distributed, env://",
	.sets = "MASTER_ADDR MASTER_PORT RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE",
	.standard = true,
	.derive = torch_derive,
};
