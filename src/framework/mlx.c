// SPDX-License-Identifier: Apache-2.0

/**
 * MLX with its NCCL backend. Process 0 listens on the port, on all addresses; the others look the host up,
 * which may be a name. The ring and JACCL backends need files of addresses and devices (MLX_HOSTFILE,
 * MLX_IBV_DEVICES), which no manager tells.
 *
 * Reference: init() and bootstrap_unique_id() in mlx/distributed/nccl/nccl.cpp of MLX.
 */

#include "framework/framework.h"

static void mlx_derive(struct derivation *d) {
	const struct cluster *c = d->cluster;
	struct counted self;
	derive_master_addr(d, "NCCL_HOST_IP");
	derive_number(d, "NCCL_PORT", c->master_port, c->master_port_why);
	const char *why = process_of(d, "NCCL_HOST_IP", &self);
	if (why) {
		derive_leaves_out(d, "MLX_WORLD_SIZE", why);
		derive_leaves_out(d, "MLX_RANK", why);
		return;
	}
	derive_number(d, "MLX_WORLD_SIZE", self.size, "the number of processes");
	derive_number(d, "MLX_RANK", self.rank, "this process's number; the master's is 0");
}

const struct framework framework_mlx = {
	.name = "mlx",
	.about = "MLX with its NCCL backend",
	.sets = "NCCL_HOST_IP NCCL_PORT MLX_WORLD_SIZE MLX_RANK",
	.derive = mlx_derive,
};
