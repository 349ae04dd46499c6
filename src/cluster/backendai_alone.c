// SPDX-License-Identifier: Apache-2.0

/**
 * Backend.AI sessions of one container, which need nothing. They have the variables of a larger one, with
 *
 *     BACKENDAI_CLUSTER_SIZE=1
 *
 * and are described where no other manager tells of a cluster.
 *
 * Reference: src/ai/backend/manager/sokovan/scheduler/launcher/launcher.py of Backend.AI.
 */

#include "base/num.h"
#include "cluster/backendai.h"

bool backendai_is_alone(const struct input *in) {
	uint32_t size;
	return num_read_u32(str_of(env_value(in->env, BACKENDAI_SIZE)), &size) == 0 && size <= 1;
}

static const char *alone_detect(const struct input *in) {
	return backendai_is_alone(in) ? BACKENDAI_SIZE : NULL;
}

static int alone_read(struct input *in, struct placement *out, struct err *err) {
	(void)err;
	const char *self = env_value(in->env, BACKENDAI_HOST);
	out->hosts_from = BACKENDAI_HOST;
	hosts_single(in->arena, self ? str_of(self) : STR("main1"), &out->hosts);
	out->node_rank = 0;
	return 0;
}

const struct source source_backendai_alone = {
	.name = "backendai",
	.about = "Backend.AI session of one container, which needs nothing",
	.known_by = BACKENDAI_SIZE " up to 1",
	.reads = READS(BACKENDAI_SIZE, BACKENDAI_HOST),
	.detect = alone_detect,
	.read = alone_read,
};
