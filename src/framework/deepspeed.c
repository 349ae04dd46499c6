// SPDX-License-Identifier: Apache-2.0

/**
 * DeepSpeed's launcher. It looks for a host file in /job/hostfile, or where its option says: "deepspeed --hostfile FILE"; no
 * variable tells it. Each line must have its "slots=", and a host stands in it once.
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
