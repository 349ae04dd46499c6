// SPDX-License-Identifier: Apache-2.0

/**
 * Multi-instance tasks of Azure Batch. The application command and each subtask have
 *
 *     AZ_BATCH_HOST_LIST=10.0.0.4,10.0.0.5      all nodes; AZ_BATCH_NODE_LIST has them with ';'
 *     AZ_BATCH_MASTER_NODE=10.0.0.4:6000        the primary; the port is Batch's own
 *     AZ_BATCH_IS_CURRENT_NODE_MASTER=true      whether this is the primary
 *
 * No variable identifies the other nodes. distinit looks for this machine's name or addresses in
 * the list.
 *
 * Reference: articles/batch/batch-compute-node-environment-variables.md of Azure's documentation.
 */

#include "cluster/endpoint.h"
#include "cluster/source.h"

#include <errno.h>

#define HOSTS  "AZ_BATCH_HOST_LIST"
#define NODES  "AZ_BATCH_NODE_LIST"
#define MASTER "AZ_BATCH_MASTER_NODE"
#define IS_IT  "AZ_BATCH_IS_CURRENT_NODE_MASTER"

static int find_this_node(struct input *in, struct placement *out, struct err *err) {
	const char *is_it = env_value(in->env, IS_IT);
	if (in->found.launcher && in->found.launcher->copies_env) {
		out->node_rank = launcher_node_rank(in, &out->hosts);
		return 0;
	}
	if (is_it && strcmp(is_it, "true") == 0) {
		out->node_rank = out->master;
		return 0;
	}
	int r = self_find(in, &out->hosts, &out->node_rank, err);
	if (r == 0) {
		notes_add(in->notes,
			  "this machine, %s, is not in %s, so its node rank is not known; "
			  "pass --hosts and --node-rank",
			  quote_text(input_hostname(in)).s, out->hosts_from);
	}
	return r < 0 ? r : 0;
}

static int azurebatch_read(struct input *in, struct placement *out, struct err *err) {
	bool commas = env_value(in->env, HOSTS);
	struct str master;
	const char *from = commas ? HOSTS : NODES, *list = env_get(in->env, from);
	int r = place_hosts(in, from, list, commas ? ',' : ';', out, err);
	r = r < 0 ? r : endpoint_read(MASTER, str_of(env_get(in->env, MASTER)), &master, NULL, err);
	if (r < 0) {
		return r;
	}
	out->master = hosts_find(&out->hosts, master);
	if (out->master == out->hosts.n) {
		return err_set(err, EINVAL, MASTER "=%s is not in %s=%s" MANAGERS_COUNT,
			       quote_text(env_get(in->env, MASTER)).s, from, quote_text(list).s);
	}
	out->job_id = env_value(in->env, "AZ_BATCH_JOB_ID");
	return find_this_node(in, out, err);
}

const struct source source_azurebatch = {
	.name = "azurebatch",
	.about = "Azure Batch, multi-instance task",
	.reads = READS(HOSTS, NODES, MASTER, IS_IT, "AZ_BATCH_JOB_ID"),
	.leaves = "the port in " MASTER ": Batch itself uses it; CCP_NODES",
	.lacks = "this node's index, except on the master: "
		 "distinit finds this machine by its name and addresses, or pass --hosts and --node-rank",
	.row = "with=" MASTER " with=" HOSTS "|" NODES,
	.read = azurebatch_read,
};
