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

#include "cluster/endpoint.h"
#include "cluster/source.h"
#include "source/pods.h"
#include "source/row.h"

#define TORCH \
	"nnodes=PET_NNODES node-rank=PET_NODE_RANK hosts={PET_MASTER_ADDR#i} " \
	"master-port?=PET_MASTER_PORT nproc-per-node=PET_NPROC_PER_NODE"
#define JAX \
	"nnodes=JAX_NUM_PROCESSES node-rank=JAX_PROCESS_ID hosts={JAX_COORDINATOR_ADDRESS#i} " \
	"master-port?=JAX_COORDINATOR_ADDRESS:*:*"

/** Whether @host is "JOB-node-0-0.JOB". */
static bool is_first_node(struct str host) {
	const struct str middle = STR("-node-0-0");
	struct str label = host_label(host);
	if (label.len <= middle.len || label.len == host.len) {
		return false;
	}
	struct str job = {label.p, label.len - middle.len};
	return str_eq(str_from(label, job.len), middle) && str_eq(str_from(host, label.len + 1), job);
}

static bool is_master(const struct input *in, const char *name) {
	struct str host;
	struct err err;
	const char *value = env_value(in->env, name);
	return value && endpoint_read(name, str_of(value), &host, NULL, &err) == 0 && is_first_node(host);
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

static int trainjob_read(struct input *in, struct placement *out, struct err *err) {
	const char *by = trainjob_detect(in);
	return row_read(in, strcmp(by, "PET_MASTER_ADDR") == 0 ? TORCH : JAX, by, out, err);
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
