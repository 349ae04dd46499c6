// SPDX-License-Identifier: Apache-2.0

/**
 * Jobs of Azure Machine Learning, which starts the ranks itself or with Open MPI. In a PyTorch job,
 * rank 8 of 16 on two nodes has
 *
 *     AZUREML_EXPERIMENT_ID=...   AZUREML_NODE_COUNT=2   NODE_RANK=1
 *     AZ_BATCH_NODE_LIST=node-0;node-1
 *     MASTER_ADDR=node-0          MASTER_PORT=9500
 *     RANK=8   WORLD_SIZE=16      LOCAL_RANK=0           these count processes, not nodes
 *
 * In an MPI job, a rank has besides OMPI_COMM_WORLD_*
 *
 *     AZ_BATCH_MASTER_NODE=10.0.0.4:6000     the host of rank 0; Azure Batch itself uses the port
 *     AZ_BATCHAI_MPI_MASTER_NODE=10.0.0.4    the same, in a job on one node
 *
 * Reference: "Distributed training" in Azure Machine Learning's documentation;
 * deepspeed/comm/comm.py of DeepSpeed.
 */

#include "cluster/endpoint.h"
#include "cluster/source.h"

#define EXPERIMENT "AZUREML_EXPERIMENT_ID"
#define COUNT	   "AZUREML_NODE_COUNT"
#define MASTER	   "AZ_BATCH_MASTER_NODE"
#define MPI_MASTER "AZ_BATCHAI_MPI_MASTER_NODE"
#define NODES	   "AZ_BATCH_NODE_LIST"

/**
 * Read the list of nodes. Use it only if it is complete and begins with the master, as its order may not
 * be that of the ranks.
 */
static int read_list(struct input *in, struct placement *out, struct err *err) {
	const char *list = env_value(in->env, NODES), *master = env_value(in->env, "MASTER_ADDR");
	struct hosts hosts;
	if (!list || !master || out->nnodes == UNKNOWN) {
		return 0;
	}
	int r = hosts_split(in->arena, NODES, list, ';', &hosts, NULL, err);
	if (r == 0 && hosts.n == out->nnodes && str_is(hosts_at(&hosts, 0), master)) {
		out->hosts = hosts;
		out->hosts_from = NODES;
	}
	return r;
}

static int azureml_read(struct input *in, struct placement *out, struct err *err) {
	const char *master_from = env_value(in->env, MASTER) ? MASTER : MPI_MASTER;
	const char *master = env_value(in->env, master_from);
	out->nnodes_from = COUNT;
	out->node_rank_from = "NODE_RANK";
	int r = env_value(in->env, COUNT) ? need_nnodes(in, COUNT, EXPERIMENT, &out->nnodes, err) : 0;
	if (r == 0 && out->nnodes != UNKNOWN) {
		r = read_u32(in, out->node_rank_from, &out->node_rank, err);
	}
	if (r == 0 && master) {
		out->master_addr_from = master_from;
		r = endpoint_read(master_from, str_of(master), &out->master_addr, NULL, err);
	}
	out->job_id = env_value(in->env, "AZUREML_RUN_ID");
	return r < 0 ? r : read_list(in, out, err);
}

const struct source source_azureml = {
	.name = "azureml",
	.about = "Azure Machine Learning job",
	.reads = READS(COUNT, "NODE_RANK", NODES, MASTER, MPI_MASTER, "AZUREML_RUN_ID"),
	.leaves = "the port in " MASTER ": Azure Batch itself uses it",
	.lacks = "the number of nodes and their names, under MPI: pass --nnodes",
	.row = "with=" EXPERIMENT " with=" COUNT "|" MASTER "|" MPI_MASTER,
	.read = azureml_read,
};
