// SPDX-License-Identifier: Apache-2.0

/**
 * Horovod's own launcher (horovodrun --gloo). It sets variables for every rank. Rank 3 of four on
 * two nodes has
 *
 *     HOROVOD_RANK=3   HOROVOD_LOCAL_RANK=1   HOROVOD_HOSTNAME=n2
 *     HOROVOD_SIZE=4   HOROVOD_LOCAL_SIZE=2   HOROVOD_GLOO_RENDEZVOUS_ADDR=10.0.0.1
 *
 * It passes its own environment on to all nodes. Over MPI, mpirun numbers the ranks. In an
 * elastic job (HOROVOD_ELASTIC=1) the numbers change while it runs, so they are ignored.
 *
 * Reference: horovod/runner/gloo_run.py of Horovod.
 */

#include "cluster/launcher.h"

static bool horovod_detect(const struct input *in) {
	return env_value(in->env, "HOROVOD_GLOO_RENDEZVOUS_ADDR") && !env_value(in->env, "HOROVOD_ELASTIC");
}

const struct launcher launcher_horovod = {
	.name = "horovod",
	.about = "Horovod's own launcher (horovodrun --gloo)",
	.rank = "HOROVOD_RANK",
	.size = "HOROVOD_SIZE",
	.local_rank = "HOROVOD_LOCAL_RANK",
	.local_size = "HOROVOD_LOCAL_SIZE",
	.host = {"HOROVOD_HOSTNAME"},
	.detect = horovod_detect,
	.copies_env = true,
};
