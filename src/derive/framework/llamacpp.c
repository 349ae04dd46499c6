// SPDX-License-Identifier: Apache-2.0

/**
 * llama.cpp over several nodes. On the master, llama-server and the like read the rpc-servers of the
 * other nodes from LLAMA_ARG_RPC, the variable of --rpc. By default, an rpc-server listens on port 50052
 * of 127.0.0.1 only, so it needs --host.
 *
 * Reference: common/arg.cpp and struct rpc_server_params in the RPC server of llama.cpp.
 */

#include "base/buf.h"
#include "cluster/endpoint.h"
#include "framework/framework.h"

#define NAME	 "LLAMA_ARG_RPC"
#define RPC_PORT 50052

static void llamacpp_derive(struct derivation *d) {
	const struct hosts *hosts = &d->cluster->place.hosts;
	struct buf list = BUF(d->env->arena);
	struct counted self;
	const char *why = process_of(d, "MASTER_ADDR", &self);
	if (!why && (self.rank != 0 || hosts->n == 0)) {
		why = hosts->n ? "only the master reads it" : "the hosts are not known";
	}
	if (why) {
		derive_leaves_out(d, NAME, why);
		return;
	}
	for (uint32_t i = 0; i < hosts->n; i++) {
		if (i != d->cluster->master_node) {
			buf_puts(&list, list.len ? "," : "");
			endpoint_put(&list, hosts_at(hosts, i), RPC_PORT);
		}
	}
	derive(d, NAME, buf_str(&list), "the rpc-servers of the other nodes");
}

const struct framework framework_llamacpp = {
	.name = "llamacpp",
	.about = "llama.cpp, with rpc-server on the other nodes",
	.sets = NAME,
	.derive = llamacpp_derive,
};
