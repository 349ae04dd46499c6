// SPDX-License-Identifier: Apache-2.0

/**
 * This node's own address, for vLLM. Without this variable, vLLM takes the address of the default route, which may be that of another
 * card than the other nodes reach.
 *
 * Reference: get_ip() in vllm/utils/network_utils.py of vLLM.
 */

#include "framework/framework.h"

#define NAME "VLLM_HOST_IP"

static void vllm_derive(struct derivation *d) {
	derive_own_address(d, NAME);
}

const struct framework framework_vllm = {
	.name = "vllm",
	.about = "this node's own address, for vLLM",
	.sets = NAME,
	.interface = NAME,
	.derive = vllm_derive,
};
