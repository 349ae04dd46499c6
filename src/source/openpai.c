// SPDX-License-Identifier: Apache-2.0

/**
 * Jobs of OpenPAI, whose tasks have roles. The second task of the role "worker" has
 *
 *     PAI_TASK_ROLE_LIST=ps_server,worker
 *     PAI_TASK_ROLE_TASK_COUNT_worker=2
 *     PAI_HOST_IP_worker_0=10.151.40.1   PAI_HOST_IP_worker_1=10.151.40.2
 *     PAI_CURRENT_TASK_ROLE_NAME=worker  PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX=1
 *
 * The nodes are the tasks of this task's own role. They have ports, too, PAI_PORT_LIST_worker_0_http,
 * but under labels that the user chooses, of which none is for a rendezvous.
 *
 * Reference: the table of environment variables in OpenPAI's manual.
 */

#include "base/buf.h"
#include "cluster/source.h"

#include <errno.h>

#define ROLE  "PAI_CURRENT_TASK_ROLE_NAME"
#define INDEX "PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX"
#define COUNT "PAI_TASK_ROLE_TASK_COUNT_"
#define HOST  "PAI_HOST_IP_"

static const char *openpai_detect(const struct input *in) {
	return env_value(in->env, ROLE) && env_value(in->env, INDEX) ? ROLE : NULL;
}

static int openpai_read(struct input *in, struct placement *out, struct err *err) {
	const char *role = env_value(in->env, ROLE);
	const char *count = arena_format(in->arena, COUNT "%s", role), *host;
	struct buf names = BUF(in->arena);
	uint32_t n = 0, empty;
	out->hosts_from = count;
	out->node_rank_from = INDEX;
	int r = need_nnodes(in, count, ROLE, &n, err);
	r = r < 0 ? r : need_u32(in, INDEX, ROLE, &out->node_rank, err);
	r = r < 0 ? r : check_below(INDEX, out->node_rank, count, n, err);
	for (uint32_t i = 0; r == 0 && i < n; i++) {
		r = need_value(in, arena_format(in->arena, HOST "%s_%u", role, i), count, &host, err);
		if (r == 0) {
			buf_puts(&names, host);
			buf_putc(&names, ',');
		}
	}
	if (r < 0) {
		return r;
	}
	out->shared_nodes = true;
	out->job_id = env_value(in->env, "PAI_JOB_NAME");
	return hosts_split(in->arena, HOST "*", buf_text(&names), ',', &out->hosts, &empty, err);
}

const struct source source_openpai = {
	.name = "openpai",
	.about = "OpenPAI job: the tasks of this task's role",
	.known_by = ROLE " and " INDEX,
	.reads = READS(ROLE, INDEX, COUNT "*", HOST "*", "PAI_JOB_NAME"),
	.leaves = "PAI_PORT_LIST_*: the user chooses what each port is for; tasks of other roles",
	.detect = openpai_detect,
	.read = openpai_read,
};
