// SPDX-License-Identifier: Apache-2.0

/**
 * DeepSpeed's launcher. It reads a host file from /job/hostfile, or from its option: "deepspeed
 * --hostfile FILE". No variable sets the path. Each line must have "slots=", and each host only one
 * line.
 *
 * Reference: deepspeed/launcher/runner.py of DeepSpeed.
 */

#include "framework/framework.h"

static void deepspeed_derive(struct derivation *d) {
	derive_hostfile(d, HOSTFILE_SLOTS, true);
}

const struct framework framework_deepspeed = {
	.name = "deepspeed",
	.about = "the deepspeed launcher: a host file (--hostfile-output=/job/hostfile)",
	.sets = "",
	.hostfile = true,
	.derive = deepspeed_derive,
};
