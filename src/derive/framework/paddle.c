// SPDX-License-Identifier: Apache-2.0

/**
 * paddle.distributed.launch without flags. One instance runs on each node and starts the ranks there. The
 * instance of rank 0 also starts the store, to which all others connect at PADDLE_MASTER.
 *
 * Reference: python/paddle/distributed/launch/context/args_envs.py of PaddlePaddle, which maps the
 * variables to its options.
 */

#include "framework/framework.h"

static const char *const names[] = {"PADDLE_MASTER", "PADDLE_NNODES", "PADDLE_RANK", "PADDLE_NPROC_PER_NODE",
				    NULL};

static void paddle_derive(struct derivation *d) {
	const struct cluster *c = d->cluster;
	struct counted self;
	const char *why = process_of(d, "PADDLE_MASTER", &self);
	why = why ? why : starter_misplaced(c);
	why = why || c->master_addr.len ? why : "the hosts are not known";
	if (why) {
		derive_leaves_all_out(d, names, why);
		return;
	}
	derive_address(d, "PADDLE_MASTER", "", c->master_port, "the host of rank 0, and the rendezvous port");
	derive_number(d, "PADDLE_NNODES", self.size, "the number of nodes");
	derive_number(d, "PADDLE_RANK", self.rank, "this node's rank; the master's is 0");
	if (c->scope == SCOPE_NODE && c->place.nproc_per_node != UNKNOWN) {
		derive_number(d, "PADDLE_NPROC_PER_NODE", c->place.nproc_per_node, "set by the manager");
	}
}

const struct framework framework_paddle = {
	.name = "paddle",
	.about = "paddle.distributed.launch, without flags",
	.sets = "PADDLE_MASTER PADDLE_NNODES PADDLE_RANK PADDLE_NPROC_PER_NODE",
	.derive = paddle_derive,
};
