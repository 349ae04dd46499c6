// SPDX-License-Identifier: Apache-2.0

/**
 * TrainJobs of Kubeflow Trainer (v2), whose pods belong to a JobSet. The second of two nodes of a
 * job "llm" has, for PyTorch,
 *
 *     PET_NNODES=2   PET_NODE_RANK=1   PET_NPROC_PER_NODE=auto
 *     PET_MASTER_ADDR=llm-node-0-0.llm   PET_MASTER_PORT=29500
 *
 * and for JAX
 *
 *     JAX_NUM_PROCESSES=2   JAX_PROCESS_ID=1   JAX_COORDINATOR_ADDRESS=llm-node-0-0.llm:29500
 *
 * and for XGBoost
 *
 *     DMLC_TRACKER_URI=llm-node-0-0.llm   DMLC_TASK_ID=1   DMLC_NUM_WORKER=8
 *
 * where the last counts workers. A node with GPUs has one worker for each GPU, so --nnodes must
 * give the number of nodes.
 *
 * These are settings of torchrun and JAX, so a user may also set them. The form of the master's
 * name shows that the operator set them. The names of all nodes follow from it.
 *
 * Reference: pkg/runtime/framework/plugins/torch, .../jax, .../xgboost of Kubeflow Trainer.
 */

#include "base/num.h"
#include "cluster/endpoint.h"
#include "cluster/source.h"
#include "source/pods.h"

/** Whether @host is "JOB-node-0-0.JOB". */
static bool is_first_node(struct str host) {
	const struct str middle = STR("-node-0-0");
	struct str label = pod_label(host);
	if (label.len <= middle.len || label.len == host.len) {
		return false;
	}
	struct str job = {label.p, label.len - middle.len};
	return str_eq(str_from(label, job.len), middle) && str_eq(str_from(host, label.len + 1), job);
}

static bool is_master(const struct input *in, const char *name) {
	struct str host;
	uint16_t port;
	struct err err;
	const char *value = env_value(in->env, name);
	return value && endpoint_read(name, str_of(value), &host, &port, &err) == 0 && is_first_node(host);
}

static const char *trainjob_detect(const struct input *in) {
	const char *nnodes = env_value(in->env, "PET_NNODES");
	if (nnodes && !strchr(nnodes, ':') && is_master(in, "PET_MASTER_ADDR")) {
		return "PET_MASTER_ADDR";
	}
	return env_value(in->env, "JAX_NUM_PROCESSES") && is_master(in, "JAX_COORDINATOR_ADDRESS")
		       ? "JAX_COORDINATOR_ADDRESS"
		       : NULL;
}

/** Derive the names of all nodes from the name of the first. */
static int name_nodes(struct input *in, const char *from, struct str first, uint32_t n, struct placement *out,
		      struct err *err) {
	struct pod_name pod;
	struct buf names = BUF(in->arena);
	uint32_t empty;
	pod_read(first, &pod);
	pods_put(&names, pod.prefix, 0, n, pod.suffix);
	out->hosts_from = from;
	return hosts_split(in->arena, from, buf_text(&names), ',', &out->hosts, &empty, err);
}

static int trainjob_read(struct input *in, struct placement *out, struct err *err) {
	bool torch = strcmp(trainjob_detect(in), "PET_MASTER_ADDR") == 0;
	const char *nnodes_from = torch ? "PET_NNODES" : "JAX_NUM_PROCESSES";
	const char *master_from = torch ? "PET_MASTER_ADDR" : "JAX_COORDINATOR_ADDRESS";
	struct str first;
	uint32_t n = 0;
	out->node_rank_from = torch ? "PET_NODE_RANK" : "JAX_PROCESS_ID";
	out->port_from = torch ? "PET_MASTER_PORT" : master_from;
	int r = need_nnodes(in, nnodes_from, master_from, &n, err);
	r = r < 0 ? r : need_u32(in, out->node_rank_from, nnodes_from, &out->node_rank, err);
	r = r < 0 ? r : check_below(out->node_rank_from, out->node_rank, nnodes_from, n, err);
	r = r < 0 ? r
		  : endpoint_read(master_from, str_of(env_get(in->env, master_from)), &first, &out->port,
				  err);
	if (r == 0 && torch) {
		r = read_port(in, out->port_from, &out->port, err);
		num_read_u32(str_of(env_value(in->env, "PET_NPROC_PER_NODE")), &out->nproc_per_node);
	}
	return r < 0 ? r : name_nodes(in, nnodes_from, first, n, out, err);
}

const struct source source_trainjob = {
	.name = "trainjob",
	.about = "Kubeflow Trainer's TrainJob (v2), for PyTorch or JAX",
	.known_by = "PET_MASTER_ADDR or JAX_COORDINATOR_ADDRESS of the form JOB-node-0-0.JOB",
	.reads =
		READS("PET_NNODES", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT",
		      "PET_NPROC_PER_NODE", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID", "JAX_COORDINATOR_ADDRESS"),
	.leaves = "a range in PET_NNODES: torchrun manages elastic jobs itself; JOB_COMPLETION_INDEX",
	.detect = trainjob_detect,
	.read = trainjob_read,
};

const struct source source_trainjob_xgboost = {
	.name = "trainjob",
	.about = "Kubeflow Trainer's TrainJob (v2), for XGBoost",
	.leaves = "DMLC_NUM_WORKER: it counts a worker for each GPU",
	.lacks = "the number of nodes: pass --nnodes",
	.row = "with=DMLC_TRACKER_URI:*-node-0-0 hosts={DMLC_TRACKER_URI#i} node-rank!=DMLC_TASK_ID "
	       "nnodes?=DMLC_NUM_WORKER:1",
};
