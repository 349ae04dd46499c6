// SPDX-License-Identifier: Apache-2.0

/**
 * Horovod. horovodrun reads a host file in Open MPI's form, in which all lines must have "slots=".
 * It takes the path only from its option: "horovodrun --hostfile FILE". So no variable is set here.
 * If mpirun starts the ranks instead, use `mpi`.
 *
 * Reference: horovod/runner/launch.py, horovod/runner/common/util/hosts.py of Horovod.
 */

#include "framework/framework.h"

static void horovod_derive(struct derivation *d) {
	derive_hostfile(d, HOSTFILE_SLOTS, true);
}

const struct framework framework_horovod = {
	.name = "horovod",
	.about = "horovodrun --hostfile: a host file (--hostfile-output)",
	.sets = "",
	.hostfile = true,
	.derive = horovod_derive,
};
