// SPDX-License-Identifier: Apache-2.0

/**
 * torchrun without flags: each of its options has its default in PET_<OPTION>. It does not read
 * MASTER_ADDR or MASTER_PORT.
 *
 * Reference: torch/distributed/run.py, argparse_util.py of PyTorch. Its help requires brackets
 * around an IPv6 address.
 */

#include "base/num.h"
#include "framework/framework.h"

#define SHUTDOWN "TORCH_ELASTIC_SHUTDOWN_TIMEOUT"

/** Its own grace, and what it needs to end. */
#define OWN_GRACE_S 30
#define ENDS_IN_S   5

static const char *const names[] = {
	"PET_NNODES", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT", "PET_NPROC_PER_NODE", NULL,
};

/** Read "N", or "N:N", which torchrun takes for the same, into *@out. Returns whether it is one of these. */
static bool read_fixed_nnodes(struct str text, uint32_t *out) {
	size_t colon = str_find(text, ':');
	struct str most = str_from(text, colon + (colon < text.len));
	return num_read_u32((struct str){text.p, colon}, out) == 0 &&
	       (colon == text.len || str_eq(most, (struct str){text.p, colon}));
}

/**
 * Whether the user configures torchrun: with a rendezvous that is not static, or with a range or a
 * different number of nodes.
 */
static bool is_steered(const struct env *env, uint32_t nnodes) {
	const char *told = env_value(env, "PET_NNODES");
	uint32_t number;
	return env_value(env, "PET_RDZV_BACKEND") || env_value(env, "PET_RDZV_ENDPOINT") ||
	       env_value(env, "PET_RDZV_ID") || env_value(env, "PET_RDZV_CONF") ||
	       env_value(env, "PET_STANDALONE") ||
	       (told &&
		(!read_fixed_nnodes(str_of(told), &number) || (nnodes != UNKNOWN && number != nnodes)));
}

/**
 * Why torchrun is wrong here or lacks values, or NULL. If only some of its variables were set, it
 * would hang.
 */
static const char *misplaced(const struct cluster *c) {
	if (c->scope == SCOPE_ALLOCATION) {
		return "every node's torchrun would inherit it; run distinit inside the step instead";
	}
	if (c->nnodes == UNKNOWN || c->place.node_rank == UNKNOWN) {
		return c->nnodes == UNKNOWN ? "the number of nodes is not known"
					    : "this node's rank is not known";
	}
	if (c->master_addr.len == 0) {
		return "the hosts are not known";
	}
	return starter_misplaced(c);
}

/** Number 0 must be on the node that torchrun uses as master. */
static void derive_node_rank(struct derivation *d) {
	const struct cluster *c = d->cluster;
	uint32_t rank = cluster_rank_around(c, master_node_of(d, "PET_MASTER_ADDR"));
	derive_noted(d, "PET_NODE_RANK", rank, "this node's rank; the master's is 0");
}

/** A service called "pet-master" makes Kubernetes set PET_MASTER_PORT=tcp://10.0.0.1:80. */
static void drop_service_link(struct derivation *d) {
	const char *set = env_value(d->env, "PET_MASTER_PORT");
	if (set && strstr(set, "://")) {
		derive_replaces_link(d, "PET_MASTER_PORT", "pet-master");
	}
}

/**
 * From TERM to KILL it gives its workers 30 s; PyTorch 2.12 and later read another time. It gets to end
 * before we kill it: it reports who failed, and leaves no worker behind.
 */
static void derive_shutdown(struct derivation *d) {
	if (d->grace_s > OWN_GRACE_S + ENDS_IN_S) {
		derive_number(d, SHUTDOWN, d->grace_s - ENDS_IN_S, "--grace, less 5 s for torchrun itself");
	}
}

static void torchrun_derive(struct derivation *d) {
	const struct cluster *c = d->cluster;
	const char *why = is_steered(d->env, c->nnodes)
				  ? "the user configures torchrun (PET_RDZV_*, PET_STANDALONE, an elastic or "
				    "different PET_NNODES)"
				  : misplaced(c);
	if (why) {
		derive_leaves_all_out(d, names, why);
		return;
	}
	derive_shutdown(d);
	derive_number(d, "PET_NNODES", c->nnodes, "the number of nodes");
	derive_node_rank(d);
	derive_address(d, "PET_MASTER_ADDR", "", 0, c->master_addr_why);
	drop_service_link(d);
	derive_number(d, "PET_MASTER_PORT", c->master_port, c->master_port_why);
	if (c->scope == SCOPE_NODE && c->place.nproc_per_node != UNKNOWN) {
		derive_number(d, "PET_NPROC_PER_NODE", c->place.nproc_per_node, "set by the manager");
	}
}

const struct framework framework_torchrun = {
	.name = "torchrun",
	.about = "torchrun, without flags",
	.sets = "PET_NNODES PET_NODE_RANK PET_MASTER_ADDR PET_MASTER_PORT PET_NPROC_PER_NODE " SHUTDOWN,
	.standard = true,
	.derive = torchrun_derive,
};
