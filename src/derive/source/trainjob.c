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
 * name shows that the operator set them. The names of all nodes follow from it. The number of each
 * node is its JOB_COMPLETION_INDEX.
 *
 * The job's initializers, such as the pod llm-dataset-initializer-0-0, may get the same variables.
 * They run before the nodes, and are not nodes.
 *
 * Reference: pkg/runtime/framework/plugins/torch, .../jax, .../xgboost, pkg/constants of Kubeflow
 * Trainer (8c0f5059; XGBoost: 4c14f9a6).
 */

#include "cluster/endpoint.h"
#include "cluster/source.h"
#include "source/pods.h"
#include "source/row.h"

#include <errno.h>

#define TORCH \
	"nnodes=PET_NNODES node-rank=PET_NODE_RANK hosts={PET_MASTER_ADDR#i} " \
	"master-port?=PET_MASTER_PORT nproc-per-node=PET_NPROC_PER_NODE"
#define JAX \
	"nnodes=JAX_NUM_PROCESSES node-rank=JAX_PROCESS_ID hosts={JAX_COORDINATOR_ADDRESS#i} " \
	"master-port?=JAX_COORDINATOR_ADDRESS:*:*"
#define XGBOOST \
	"with=DMLC_TRACKER_URI:*-node-0-0 hosts={DMLC_TRACKER_URI#i} node-rank!=DMLC_TASK_ID " \
	"nnodes?=DMLC_NUM_WORKER:1"
#define INDEX "JOB_COMPLETION_INDEX"

/** Whether this pod is an initializer of the job of the first node @host. */
static bool is_initializer(const struct input *in, struct str host) {
	struct own_name own = input_own_name(in);
	struct str label = host_label(str_of(own.s)), job = host_label(host);
	job.len -= strlen("node-0-0");
	struct str role = str_from(label, str_starts(label, job) ? job.len : label.len);
	return str_starts(role, STR("dataset-initializer-")) || str_starts(role, STR("model-initializer-"));
}

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
	return value && endpoint_read(name, str_of(value), &host, NULL, &err) == 0 && is_first_node(host) &&
	       !is_initializer(in, host);
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

/**
 * Read @row, and check it: the operator sets the node rank to the pod's index. If they differ, one of
 * them is from another job.
 */
static int read_pod(struct input *in, const char *row, const char *by, struct placement *out,
		    struct err *err) {
	uint32_t index = UNKNOWN;
	int r = row_read(in, row, by, out, err);
	r = r < 0 ? r : read_u32(in, INDEX, &index, err);
	if (r < 0 || index == UNKNOWN || index == out->node_rank) {
		return r;
	}
	return err_set(err, EINVAL,
		       "%s=%u, but " INDEX "=%u: the operator sets both to this pod's number, so one of them "
		       "is another pod's; remove it where it was copied to (the job's env:, the image)",
		       out->node_rank_from, out->node_rank, index);
}

static int trainjob_read(struct input *in, struct placement *out, struct err *err) {
	const char *by = trainjob_detect(in);
	return read_pod(in, strcmp(by, "PET_MASTER_ADDR") == 0 ? TORCH : JAX, by, out, err);
}

static int xgboost_read(struct input *in, struct placement *out, struct err *err) {
	return read_pod(in, XGBOOST, "DMLC_TRACKER_URI", out, err);
}

const struct source source_trainjob = {
	.name = "trainjob",
	.about = "Kubeflow Trainer's TrainJob (v2), for PyTorch or JAX",
	.known_by = "PET_MASTER_ADDR or JAX_COORDINATOR_ADDRESS of the form JOB-node-0-0.JOB",
	.reads = READS("PET_NNODES", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT",
		       "PET_NPROC_PER_NODE", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID", "JAX_COORDINATOR_ADDRESS",
		       INDEX),
	.leaves = "a range in PET_NNODES: torchrun manages elastic jobs itself; the pods of initializers",
	.detect = trainjob_detect,
	.read = trainjob_read,
};

const struct source source_trainjob_xgboost = {
	.name = "trainjob",
	.about = "Kubeflow Trainer's TrainJob (v2), for XGBoost",
	.leaves = "DMLC_NUM_WORKER: it counts a worker for each GPU",
	.lacks = "the number of nodes: pass --nnodes",
	.reads = READS("DMLC_TRACKER_URI", "DMLC_TASK_ID", "DMLC_NUM_WORKER", INDEX),
	.row = XGBOOST,
	.read = xgboost_read,
};
