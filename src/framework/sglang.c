// SPDX-License-Identifier: Apache-2.0

/**
 * This node's own address, for SGLang. Without this variable and HOST_IP, SGLang takes that of an interface, or of the default
 * route.
 *
 * Reference: get_local_ip_auto() in python/sglang/srt/utils of SGLang.
 */

#include "framework/framework.h"

#define NAME "SGLANG_HOST_IP"

static void sglang_derive(struct derivation *d) {
	derive_own_address(d, NAME);
}

const struct framework framework_sglang = {
	.name = "sglang",
	.about = "this node's own address, for SGLang",
	.sets = NAME,
	.interface = NAME,
	.derive = sglang_derive,
};
