// SPDX-License-Identifier: Apache-2.0

/**
 * Managers that need only a row. The values follow the documentation of each manager. A row whose
 * variables are common words has a function that recognises it.
 */

#include "cluster/source.h"
#include "source/batch.h"
#include "source/row.h"

#include <strings.h>

/*
 * SkyPilot tasks, on any cloud. The second node of two:
 *
 *     SKYPILOT_NODE_IPS=10.0.0.1        all nodes, one per line, in rank order, not sorted
 *     10.0.0.2
 *     SKYPILOT_NODE_RANK=1              this node
 *     SKYPILOT_NUM_NODES=2
 *     SKYPILOT_NUM_GPUS_PER_NODE=8      0 without GPUs, or a fraction
 *
 * Setup commands of a task have SKYPILOT_SETUP_* instead: they run outside the job.
 *
 * Reference: docs/source/running-jobs/environment-variables.rst, distributed-jobs.rst of SkyPilot.
 */
const struct source source_skypilot = {
	.name = "skypilot",
	.about = "SkyPilot task, on any cloud, Kubernetes or Slurm",
	.leaves = "SKYPILOT_SETUP_*: setup commands run outside the job",
	.row =
		&(const struct source_row){
			.variables =
				{
					[ROW_HOSTS] = "SKYPILOT_NODE_IPS",
					[ROW_NODE_RANK] = "SKYPILOT_NODE_RANK",
					[ROW_NNODES] = "SKYPILOT_NUM_NODES",
					[ROW_NPROC_PER_NODE] = "SKYPILOT_NUM_GPUS_PER_NODE",
					[ROW_JOB] = "SKYPILOT_TASK_ID",
				},
			.known_by = ROW_HOSTS,
			.separator = '\n',
		},
};

/*
 * dstack tasks of several nodes. The second node of two:
 *
 *     DSTACK_NODES_IPS=10.0.0.1      all of them, one a line, in rank order
 *     10.0.0.2
 *     DSTACK_NODE_RANK=1             this one
 *     DSTACK_NODES_NUM=2
 *     DSTACK_GPUS_PER_NODE=8         0 without GPUs
 *     DSTACK_MASTER_NODE_IP=10.0.0.1
 *
 * Where the nodes have no internal addresses, DSTACK_NODES_IPS is empty: a single node, mostly.
 *
 * Reference: runner/internal/runner/executor/executor.go of dstack.
 */
const struct source source_dstack = {
	.name = "dstack",
	.about = "dstack task of several nodes",
	.leaves = "DSTACK_MPI_HOSTFILE, DSTACK_GPUS_NUM: the same again",
	.row =
		&(const struct source_row){
			.variables =
				{
					[ROW_HOSTS] = "DSTACK_NODES_IPS",
					[ROW_NODE_RANK] = "DSTACK_NODE_RANK",
					[ROW_NNODES] = "DSTACK_NODES_NUM",
					[ROW_MASTER_ADDR] = "DSTACK_MASTER_NODE_IP",
					[ROW_NPROC_PER_NODE] = "DSTACK_GPUS_PER_NODE",
					[ROW_JOB] = "DSTACK_JOB_ID",
				},
			.known_by = ROW_HOSTS,
			.known_with = ROW_BIT(ROW_NODE_RANK),
			.separator = '\n',
		},
};

/*
 * Batch jobs of DGX Cloud Lepton. The second worker of two:
 *
 *     LEPTON_JOB_WORKER_INDEX=1              this one
 *     LEPTON_JOB_TOTAL_WORKERS=2
 *     LEPTON_JOB_WORKER_PREFIX=train-worker  worker i is train-worker-i.train-job-svc
 *     LEPTON_SUBDOMAIN=train-job-svc
 *     LEPTON_RESOURCE_ACCELERATOR_NUM=8
 *
 * The prefix is in LEPTON_JOB_SERVICE_PREFIX in some versions, and else it is the job's name.
 *
 * Reference: "Environment Variables Reference" in NVIDIA's documentation of it;
 * lepton_env_to_pytorch.sh of leptonai/scripts.
 */
const struct source source_lepton = {
	.name = "lepton",
	.about = "DGX Cloud Lepton batch job",
	.row =
		&(const struct source_row){
			.variables =
				{
					[ROW_HOSTS] =
						"{LEPTON_JOB_WORKER_PREFIX|LEPTON_JOB_SERVICE_PREFIX|LEPTON_"
						"JOB_NAME}-{i}.{LEPTON_SUBDOMAIN}",
					[ROW_NODE_RANK] = "LEPTON_JOB_WORKER_INDEX",
					[ROW_NNODES] = "LEPTON_JOB_TOTAL_WORKERS",
					[ROW_NPROC_PER_NODE] = "LEPTON_RESOURCE_ACCELERATOR_NUM",
					[ROW_JOB] = "LEPTON_JOB_NAME",
				},
			.known_by = ROW_NODE_RANK,
			.known_with = ROW_BIT(ROW_NNODES),
			.optional = ROW_BIT(ROW_HOSTS),
		},
};

/*
 * Multi-node jobs of NVIDIA's NGC Base Command. The second replica of two:
 *
 *     NGC_ARRAY_INDEX=1   NGC_ARRAY_SIZE=2   NGC_MASTER_ADDR=launcher-svc-1234567
 *     NGC_GPUS_PER_NODE=8   NGC_JOB_ID=1234567
 *
 * Replicas whose job runs nothing together have no master. The names of the others are not told.
 *
 * Reference: public training scripts that read them.
 */
const struct source source_ngc = {
	.name = "ngc",
	.about = "NGC Base Command job of several replicas",
	.lacks = "the names of the nodes: pass --hosts if you need TF_CONFIG",
	.row =
		&(const struct source_row){
			.variables =
				{
					[ROW_NODE_RANK] = "NGC_ARRAY_INDEX",
					[ROW_NNODES] = "NGC_ARRAY_SIZE",
					[ROW_MASTER_ADDR] = "NGC_MASTER_ADDR",
					[ROW_NPROC_PER_NODE] = "NGC_GPUS_PER_NODE",
					[ROW_JOB] = "NGC_JOB_ID",
				},
			.known_by = ROW_NODE_RANK,
			.known_with = ROW_BIT(ROW_NNODES) | ROW_BIT(ROW_MASTER_ADDR),
		},
};

/*
 * PyTorch jobs of SenseCore. The second node of two:
 *
 *     SENSECORE_PYTORCH_NODE_RANK=1   SENSECORE_PYTORCH_NNODES=2
 *     SENSECORE_ACCELERATE_DEVICE_COUNT=8
 *     MASTER_ADDR=pt-abc123-master-0   MASTER_PORT=23456
 *
 * Reference: public training scripts that read them.
 */
const struct source source_sensecore = {
	.name = "sensecore",
	.about = "SenseCore PyTorch job",
	.lacks = "the names of the nodes: pass --hosts if you need TF_CONFIG",
	.row =
		&(const struct source_row){
			.variables =
				{
					[ROW_NODE_RANK] = "SENSECORE_PYTORCH_NODE_RANK",
					[ROW_NNODES] = "SENSECORE_PYTORCH_NNODES",
					[ROW_MASTER_ADDR] = "MASTER_ADDR",
					[ROW_MASTER_PORT] = "MASTER_PORT",
					[ROW_NPROC_PER_NODE] = "SENSECORE_ACCELERATE_DEVICE_COUNT",
				},
			.known_by = ROW_NODE_RANK,
			.known_with = ROW_BIT(ROW_NNODES),
			.optional = ROW_BIT(ROW_MASTER_ADDR) | ROW_BIT(ROW_MASTER_PORT),
		},
};

static const struct source_row volcengine_row = {
	.variables =
		{
			[ROW_HOSTS] = "MLP_WORKER_ALL_HOSTS",
			[ROW_NODE_RANK] = "MLP_ROLE_INDEX",
			[ROW_NNODES] = "MLP_WORKER_NUM",
			[ROW_MASTER_ADDR] = "MLP_WORKER_0_HOST",
			[ROW_MASTER_PORT] = "MLP_WORKER_0_PORT",
			[ROW_NPROC_PER_NODE] = "MLP_WORKER_GPU",
			[ROW_JOB] = "MLP_TASK_ID",
		},
	.known_by = ROW_MASTER_ADDR,
	.known_with = ROW_BIT(ROW_NODE_RANK) | ROW_BIT(ROW_NNODES),
	.optional = ROW_BIT(ROW_HOSTS) | ROW_BIT(ROW_MASTER_PORT),
};

static const char *volcengine_detect(const struct input *in) {
	const char *by = row_detect(in, &volcengine_row), *role = by ? env_value(in->env, "MLP_ROLE") : NULL;
	return role && strcasecmp(role, "worker") != 0 ? NULL : by;
}

/*
 * Custom tasks of Volcengine's machine learning platform, also as BytePlus's. The second worker of
 * two:
 *
 *     MLP_WORKER_0_HOST=10.128.97.74   MLP_WORKER_0_PORT=2222
 *     MLP_WORKER_ALL_HOSTS=10.128.97.74,10.128.96.17
 *     MLP_WORKER_NUM=2   MLP_WORKER_GPU=8
 *     MLP_ROLE=worker    MLP_ROLE_INDEX=1      counts within the role
 *
 * Servers, schedulers and the like are other roles, which are no nodes.
 *
 * Reference: "List of common environment variables" of BytePlus's and Volcengine's documentation.
 */
const struct source source_volcengine = {
	.name = "volcengine",
	.about = "Volcengine or BytePlus ML platform's task, a worker",
	.known_by = "MLP_WORKER_0_HOST with MLP_ROLE_INDEX and MLP_WORKER_NUM, in the role of a worker",
	.leaves = "other roles: MLP_ROLE is not worker",
	.detect = volcengine_detect,
	.row = &volcengine_row,
};

/*
 * Jobs of ByteDance's Arnold and Merlin. The second worker of two:
 *
 *     ARNOLD_WORKER_0_HOST=10.1.2.3   ARNOLD_WORKER_0_PORT=10001,10002    the first port counts
 *     ARNOLD_WORKER_NUM=2             ARNOLD_ID=1   ARNOLD_WORKER_GPU=8
 *
 * Older ones have ARNOLD_NUM for ARNOLD_WORKER_NUM.
 *
 * Reference: public training scripts that read them.
 */
const struct source source_arnold = {
	.name = "arnold",
	.about = "ByteDance's Arnold or Merlin job",
	.lacks = "the names of the nodes: pass --hosts if you need TF_CONFIG",
	.row =
		&(const struct source_row){
			.variables =
				{
					[ROW_NODE_RANK] = "ARNOLD_ID",
					[ROW_NNODES] = "ARNOLD_WORKER_NUM|ARNOLD_NUM",
					[ROW_MASTER_ADDR] = "ARNOLD_WORKER_0_HOST",
					[ROW_MASTER_PORT] = "ARNOLD_WORKER_0_PORT",
					[ROW_NPROC_PER_NODE] = "ARNOLD_WORKER_GPU",
				},
			.known_by = ROW_MASTER_ADDR,
			.known_with = ROW_BIT(ROW_NODE_RANK) | ROW_BIT(ROW_NNODES),
			.optional = ROW_BIT(ROW_MASTER_PORT),
		},
};

static const struct source_row taiji_row = {
	.variables =
		{
			[ROW_HOSTS] = "NODE_IP_LIST",
			[ROW_NODE_RANK] = "INDEX",
			[ROW_NNODES] = "TAIJI_HOST_NUM|HOST_NUM",
			[ROW_MASTER_ADDR] = "CHIEF_IP",
			[ROW_NPROC_PER_NODE] = "HOST_GPU_NUM",
		},
	.known_by = ROW_MASTER_ADDR,
	.known_with = ROW_BIT(ROW_NODE_RANK),
	.optional = ROW_BIT(ROW_HOSTS) | ROW_BIT(ROW_NNODES),
	.slots = true,
};

static const char *taiji_detect(const struct input *in) {
	const char *by = row_detect(in, &taiji_row);
	return by && (env_value(in->env, "TAIJI_HOST_NUM") || env_value(in->env, "NODE_IP_LIST")) ? by : NULL;
}

/*
 * Jobs of Tencent's Taiji. The second host of two:
 *
 *     CHIEF_IP=28.1.2.3   INDEX=1   TAIJI_HOST_NUM=2   HOST_NUM=2
 *     NODE_IP_LIST=28.1.2.3:8,28.1.2.4:8     an address and its GPUs
 *     HOST_GPU_NUM=8   NODE_NUM=16           which counts GPUs
 *
 * All but one are common words, so it takes three of them.
 *
 * Reference: public training scripts that read them.
 */
const struct source source_taiji = {
	.name = "taiji",
	.about = "Tencent's Taiji job",
	.known_by = "CHIEF_IP and INDEX, with TAIJI_HOST_NUM or NODE_IP_LIST",
	.leaves = "NODE_NUM, TAIJI_NODE_NUM: they count GPUs",
	.detect = taiji_detect,
	.row = &taiji_row,
};

/*
 * Jobs of Megvii's Brain++ and of platforms that took it over. The second replica of two:
 *
 *     KUBEBRAIN_REPLICA=1   KUBEBRAIN_REPLICA_TOTAL=2   PROC_PER_NODE=8
 *     MASTER_ADDR=job-0                                 in some of them
 *
 * rlaunch calls them RLAUNCH_REPLICA and RLAUNCH_REPLICA_TOTAL.
 *
 * Reference: public training scripts that read them.
 */
const struct source source_brainpp = {
	.name = "brainpp",
	.about = "Brain++ job of several replicas",
	.lacks = "mostly the master: pass --master-addr, or --hosts",
	.row =
		&(const struct source_row){
			.variables =
				{
					[ROW_NODE_RANK] = "KUBEBRAIN_REPLICA|RLAUNCH_REPLICA",
					[ROW_NNODES] = "KUBEBRAIN_REPLICA_TOTAL|RLAUNCH_REPLICA_TOTAL",
					[ROW_MASTER_ADDR] = "MASTER_ADDR",
					[ROW_MASTER_PORT] = "MASTER_PORT",
					[ROW_NPROC_PER_NODE] = "PROC_PER_NODE",
				},
			.known_by = ROW_NODE_RANK,
			.known_with = ROW_BIT(ROW_NNODES),
			.numbers = ROW_BIT(ROW_NODE_RANK) | ROW_BIT(ROW_NNODES),
			.optional = ROW_BIT(ROW_MASTER_ADDR) | ROW_BIT(ROW_MASTER_PORT),
		},
};

/*
 * Steps of Metaflow that run on several nodes (@parallel). On Kubernetes, in a JobSet, worker 0 has
 *
 *     MF_MASTER_ADDR=js-1a2b-control-0-0.js-1a2b.default.svc.cluster.local   MF_MASTER_PORT=3389
 *     MF_WORLD_SIZE=3               nodes: the control task, and the workers
 *     MF_WORKER_REPLICA_INDEX=0     so it is node 1; the control task, node 0, has MF_CONTROL_INDEX=0
 *
 * Each is a Job of its own: JOB_COMPLETION_INDEX is 0 in all of them. On AWS Batch, and in what a
 * step itself starts, there are
 *
 *     MF_PARALLEL_MAIN_IP=10.0.0.1   MF_PARALLEL_NUM_NODES=3   MF_PARALLEL_NODE_INDEX=1
 *
 * Reference: metaflow/plugins/kubernetes/kubernetes.py, kubernetes_decorator.py,
 * metaflow/plugins/aws/batch/batch_decorator.py of Metaflow.
 */
const struct source source_metaflow = {
	.name = "metaflow",
	.about = "Metaflow step on several nodes (@parallel)",
	.leaves = "JOB_COMPLETION_INDEX, which is 0 on each node",
	.lacks = "the names of the nodes: pass --hosts if you need TF_CONFIG",
	.row =
		&(const struct source_row){
			.variables =
				{
					[ROW_MASTER_ADDR] = "MF_MASTER_ADDR|MF_PARALLEL_MAIN_IP",
					[ROW_MASTER_PORT] = "MF_MASTER_PORT",
					[ROW_NNODES] = "MF_WORLD_SIZE|MF_PARALLEL_NUM_NODES",
					[ROW_NODE_RANK] = "MF_CONTROL_INDEX|MF_WORKER_REPLICA_INDEX+1|"
							  "MF_PARALLEL_NODE_INDEX",
				},
			.known_by = ROW_NNODES,
			.known_with = ROW_BIT(ROW_MASTER_ADDR) | ROW_BIT(ROW_NODE_RANK),
			.optional = ROW_BIT(ROW_MASTER_PORT),
		},
};

static const struct source_row ascend_row = {
	.variables =
		{
			[ROW_MASTER_ADDR] = "MASTER_ADDR",
			[ROW_MASTER_PORT] = "MASTER_PORT",
			[ROW_NNODES] = "WORLD_SIZE/LOCAL_WORLD_SIZE",
			[ROW_NODE_RANK] = "RANK",
			[ROW_NPROC_PER_NODE] = "LOCAL_WORLD_SIZE",
		},
	.known_by = ROW_NPROC_PER_NODE,
	.known_with = ROW_BIT(ROW_NODE_RANK) | ROW_BIT(ROW_MASTER_ADDR),
	.optional = ROW_BIT(ROW_MASTER_PORT),
};

static const char *ascend_detect(const struct input *in) {
	const char *by = row_detect(in, &ascend_row);
	return by && str_starts(str_of(env_value(in->env, "LOCAL_RANK")), STR("0,1")) ? by : NULL;
}

/*
 * PyTorch jobs of the Ascend operator (MindX, MindCluster). The second pod of two, with eight NPUs
 * in each:
 *
 *     MASTER_ADDR=10.244.3.7   MASTER_PORT=2222
 *     WORLD_SIZE=16   LOCAL_WORLD_SIZE=8          NPUs: of the job, and of this pod
 *     RANK=1                                      the pod
 *     LOCAL_RANK=0,1,2,3,4,5,6,7                  a list, which nobody else makes of it
 *
 * With one NPU in a pod, LOCAL_RANK is 0, and the rest looks as everybody's ranks do: that is left
 * alone. There, RANK and WORLD_SIZE are right as they are.
 *
 * Reference: "Environment variables of MindCluster Ascend Operator" in MindX DL's documentation.
 */
const struct source source_ascend = {
	.name = "ascend",
	.about = "PyTorch job of the Ascend operator (MindX)",
	.known_by = "LOCAL_RANK that is a list (0,1,...), with MASTER_ADDR, RANK and LOCAL_WORLD_SIZE",
	.leaves = "LOCAL_RANK=0, in a pod with one NPU: it looks the same as a rank's",
	.lacks = "the names of the nodes: pass --hosts if you need TF_CONFIG",
	.detect = ascend_detect,
	.row = &ascend_row,
};

static const struct source_row googlebatch_row = {
	.variables =
		{
			[ROW_NODE_RANK] = "BATCH_NODE_INDEX",
			[ROW_NNODES] = "BATCH_NODE_COUNT",
			[ROW_MASTER_ADDR] = "BATCH_MAIN_NODE_HOSTNAME",
			[ROW_JOB] = "BATCH_JOB_UID",
		},
	.known_by = ROW_MASTER_ADDR,
	.known_with = ROW_BIT(ROW_NODE_RANK) | ROW_BIT(ROW_NNODES),
};

/** Tasks that are more than the machines are not one each: they wait for each other, or share. */
static const char *googlebatch_detect(const struct input *in) {
	const char *by = row_detect(in, &googlebatch_row),
		   *tasks = by ? env_value(in->env, "BATCH_TASK_COUNT") : NULL;
	return tasks && strcmp(tasks, env_get(in->env, "BATCH_NODE_COUNT")) != 0 ? NULL : by;
}

/*
 * Google Batch, where a job has a task on each of several machines. The second of two:
 *
 *     BATCH_NODE_INDEX=1   BATCH_NODE_COUNT=2   BATCH_TASK_COUNT=2
 *     BATCH_MAIN_NODE_HOSTNAME=j-9f6b-group0-0-x1y2   BATCH_JOB_UID=j-9f6b
 *
 * BATCH_HOSTS_FILE lists the machines where a job asks for it, in an order that nothing tells.
 *
 * Reference: torchx/schedulers/gcp_batch_scheduler.py of TorchX. BATCH_TASK_COUNT is not
 * confirmed by a source.
 */
const struct source source_googlebatch = {
	.name = "googlebatch",
	.about = "Google Batch job, a task on each of several machines",
	.known_by = "BATCH_MAIN_NODE_HOSTNAME with BATCH_NODE_INDEX and BATCH_NODE_COUNT, unless "
		    "BATCH_TASK_COUNT is another number",
	.leaves = "BATCH_HOSTS_FILE, whose order is not documented; BATCH_TASK_INDEX",
	.lacks = "the names of the nodes: pass --hosts if you need TF_CONFIG",
	.detect = googlebatch_detect,
	.row = &googlebatch_row,
};

/*
 * Cobalt, the scheduler of Argonne's machines. In a job script:
 *
 *     COBALT_JOBID=123456   COBALT_NODEFILE=/var/tmp/cobalt.123456    one host per line
 *
 * COBALT_PARTNAME and COBALT_PARTSIZE describe a partition, which may differ from the job's nodes.
 *
 * Reference: src/mca/ras/pbs of PRRTE,
 * src/pm/hydra/lib/tools/bootstrap/external/cobalt_query_node_list.c of MPICH, which read them.
 */
const struct source source_cobalt = {
	.name = "cobalt",
	.about = "Cobalt jobs: the script, and mpirun or mpiexec in it",
	.leaves = "COBALT_PARTNAME, COBALT_PARTSIZE: they describe a partition, not always the job's nodes",
	.lacks = BATCH_LACKS,
	.row =
		&(const struct source_row){
			.variables = {[ROW_JOB] = "COBALT_JOBID", [ROW_HOSTFILE] = "COBALT_NODEFILE"},
			.known_by = ROW_JOB,
			.known_with = ROW_BIT(ROW_HOSTFILE),
			.batch = true,
		},
};

/*
 * IBM LoadLeveler. In a job of several tasks:
 *
 *     LOADL_HOSTFILE=/var/loadl/execute/fr1n01.123.0.hosts   one host name per task
 *     LOADL_STEP_ID=fr1n01.123.0                             the job's step
 *
 * Reference: src/pm/hydra/lib/tools/bootstrap/external/ll_query_node_list.c of MPICH, which reads
 * the file; IBM's manual "Using and Administering" for the step's id.
 */
const struct source source_loadleveler = {
	.name = "loadleveler",
	.about = "LoadLeveler jobs: the script, and mpirun or mpiexec in it",
	.lacks = BATCH_LACKS,
	.row =
		&(const struct source_row){
			.variables = {[ROW_HOSTFILE] = "LOADL_HOSTFILE", [ROW_JOB] = "LOADL_STEP_ID"},
			.known_by = ROW_HOSTFILE,
			.batch = true,
			.lines_are_slots = true,
		},
};

/*
 * OAR, the scheduler of Grid'5000. In a job's script, on its first node:
 *
 *     OAR_JOB_ID=1234567   OAR_NODEFILE=/var/lib/oar/1234567    a host a line, for each core
 *
 * Reference: sources/core/common-libs/lib/OAR/Tools.pm of OAR 2.5.10.
 */
const struct source source_oar = {
	.name = "oar",
	.about = "OAR jobs: the script, and mpirun in it",
	.lacks = BATCH_LACKS,
	.row =
		&(const struct source_row){
			.variables = {[ROW_JOB] = "OAR_JOB_ID", [ROW_HOSTFILE] = "OAR_NODEFILE"},
			.known_by = ROW_JOB,
			.known_with = ROW_BIT(ROW_HOSTFILE),
			.batch = true,
			.lines_are_slots = true,
		},
};

/*
 * Fujitsu's PJM. In a job script:
 *
 *     PJM_JOBID=1234567   PJM_O_NODEINF=/var/spool/pjm/1234567.nodeinf    a host a line
 *     PJM_NODE=4          PJM_MPI_PROC=32
 *
 * Reference: public job scripts that read them.
 */
const struct source source_pjm = {
	.name = "pjm",
	.about = "Fujitsu PJM jobs: the script, and mpirun or mpiexec in it",
	.leaves = "PJM_NODE, PJM_MPI_PROC: what the job asked for",
	.lacks = BATCH_LACKS,
	.row =
		&(const struct source_row){
			.variables = {[ROW_JOB] = "PJM_JOBID", [ROW_HOSTFILE] = "PJM_O_NODEINF"},
			.known_by = ROW_JOB,
			.known_with = ROW_BIT(ROW_HOSTFILE),
			.batch = true,
		},
};

static const struct source_row plain_row = {
	.variables =
		{
			[ROW_NODE_RANK] = "NODE_RANK",
			[ROW_NNODES] = "NNODES|NUM_NODES|NODE_COUNT",
			[ROW_MASTER_ADDR] = "MASTER_ADDR",
			[ROW_MASTER_PORT] = "MASTER_PORT",
			[ROW_NPROC_PER_NODE] = "NPROC_PER_NODE|NUM_TRAINERS|LOCAL_WORLD_SIZE",
		},
	.known_by = ROW_NODE_RANK,
	.known_with = ROW_BIT(ROW_NNODES) | ROW_BIT(ROW_MASTER_ADDR),
	.numbers = ROW_BIT(ROW_NODE_RANK) | ROW_BIT(ROW_NNODES),
	.optional = ROW_BIT(ROW_MASTER_PORT),
};

/** Whether the variables that count nodes disagree: then one of them is somebody else's. */
static bool plain_counts_differ(const struct input *in) {
	const char *const names[] = {"NNODES", "NUM_NODES", "NODE_COUNT"};
	const char *first = NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *value = env_value(in->env, names[i]);
		if (value && first && strcmp(value, first) != 0) {
			return true;
		}
		first = value ? value : first;
	}
	return false;
}

/** A process that has a LOCAL_RANK was started as a rank: it is not a node. */
static const char *plain_detect(const struct input *in) {
	const char *by = row_detect(in, &plain_row);
	return by && !env_value(in->env, "LOCAL_RANK") && !plain_counts_differ(in) ? by : NULL;
}

/*
 * Nodes that are given plainly: by RunPod's instant clusters, MosaicML, and jobs made by hand.
 * The second node of two:
 *
 *     MASTER_ADDR=10.65.0.2   MASTER_PORT=29500   NODE_RANK=1
 *     NUM_NODES=2, NNODES=2 or NODE_COUNT=2
 *     NUM_TRAINERS=8, NPROC_PER_NODE=8 or LOCAL_WORLD_SIZE=8
 *
 * WORLD_SIZE and RANK count processes, and stay as they are.
 *
 * Reference: "Configuration" of instant clusters in RunPod's documentation.
 */
const struct source source_plain = {
	.name = "plain",
	.about = "nodes given by MASTER_ADDR and NODE_RANK: RunPod, MosaicML, jobs made by hand",
	.known_by = "NODE_RANK and MASTER_ADDR with NNODES, NUM_NODES or NODE_COUNT, which agree, without "
		    "LOCAL_RANK",
	.leaves = "WORLD_SIZE, RANK: of processes; a range in NNODES; ranks of a launcher",
	.lacks = "the names of the nodes: pass --hosts if you need TF_CONFIG",
	.detect = plain_detect,
	.row = &plain_row,
	.nodes_only = true,
};

/*
 * Trials of Determined. Its launch layer asks the Determined master for the rendezvous. For the
 * processes that it starts, it sets
 *
 *     DET_CHIEF_IP=10.1.1.4   DET_SLOT_IDS=[0,1]
 *
 * These processes get the chief's address, but neither the number of nodes nor their node rank.
 *
 * Reference: harness/determined/launch of Determined.
 */
const struct source source_determined = {
	.name = "determined",
	.about = "Determined trial, under its launch layer",
	.lacks = "the number of nodes and this node's rank: pass --hosts and --node-rank, or --nnodes",
	.row =
		&(const struct source_row){
			.variables = {[ROW_MASTER_ADDR] = "DET_CHIEF_IP", [ROW_JOB] = "DET_TRIAL_ID"},
			.known_by = ROW_MASTER_ADDR,
		},
};

/*
 * HTCondor's parallel universe. Each machine of a job runs the same program. The second machine of
 * four has
 *
 *     _CONDOR_PROCNO=1   _CONDOR_NPROCS=4
 *
 * No variable names the other machines. So the user sets the master (MASTER_ADDR or --master-addr),
 * which must be the machine with number 0.
 *
 * Reference: "Parallel Applications" of HTCondor's manual.
 */
const struct source source_htcondor = {
	.name = "htcondor",
	.about = "HTCondor's parallel universe: an index and a size",
	.lacks = "the hosts: pass --master-addr (the machine with number 0) or --hosts",
	.row =
		&(const struct source_row){
			.variables = {[ROW_NODE_RANK] = "_CONDOR_PROCNO", [ROW_NNODES] = "_CONDOR_NPROCS"},
			.known_by = ROW_NODE_RANK,
			.known_with = ROW_BIT(ROW_NNODES),
		},
};

/*
 * Allocations of Nomad. Each allocation of a group has
 *
 *     NOMAD_ALLOC_INDEX=2   NOMAD_GROUP_NAME=train
 *
 * There is no size and no list of hosts, and most allocations are independent of each other. So
 * distinit describes the allocation, but derives nothing unless the user gives the rest.
 *
 * Reference: "Runtime environment settings" in Nomad's documentation.
 */
const struct source source_nomad = {
	.name = "nomad",
	.about = "Nomad allocation",
	.leaves = "NOMAD_ADDR_*: addresses of this allocation only",
	.lacks = "the number of allocations and their hosts: pass --nnodes and --master-addr, or --hosts and "
		 "--node-rank",
	.row =
		&(const struct source_row){
			.variables = {[ROW_NODE_RANK] = "NOMAD_ALLOC_INDEX", [ROW_JOB] = "NOMAD_JOB_NAME"},
			.known_by = ROW_NODE_RANK,
			.numbers = ROW_BIT(ROW_NODE_RANK),
		},
};

/*
 * Experiments of Beaker, at Ai2, whose replicas have a leader. The second replica of two:
 *
 *     BEAKER_REPLICA_RANK=1   BEAKER_REPLICA_COUNT=2   BEAKER_ASSIGNED_GPU_COUNT=8
 *     BEAKER_LEADER_REPLICA_HOSTNAME=jupiter-cs-aus-133.reviz.ai2.in
 *
 * Replicas without --leader-selection have no leader, and share work that is independent.
 *
 * Reference: beaker-gantry, whose options describe the variables and whose launchers read them.
 */
const struct source source_beaker = {
	.name = "beaker",
	.about = "Beaker experiment, replicas with a leader",
	.lacks = "the names of the nodes: pass --hosts if you need TF_CONFIG",
	.row =
		&(const struct source_row){
			.variables =
				{
					[ROW_NODE_RANK] = "BEAKER_REPLICA_RANK",
					[ROW_NNODES] = "BEAKER_REPLICA_COUNT",
					[ROW_MASTER_ADDR] = "BEAKER_LEADER_REPLICA_HOSTNAME",
					[ROW_NPROC_PER_NODE] = "BEAKER_ASSIGNED_GPU_COUNT",
					[ROW_JOB] = "BEAKER_EXPERIMENT_ID",
				},
			.known_by = ROW_MASTER_ADDR,
			.known_with = ROW_BIT(ROW_NODE_RANK) | ROW_BIT(ROW_NNODES),
		},
};

/*
 * Training jobs of Baseten. The second node of two:
 *
 *     BT_NODE_RANK=1   BT_GROUP_SIZE=2   BT_NUM_GPUS=8
 *     BT_LEADER_ADDR=10.0.3.7
 *
 * Reference: Baseten's page of multinode training, and the launchers of its cookbook.
 */
const struct source source_baseten = {
	.name = "baseten",
	.about = "Baseten training job",
	.lacks = "the names of the nodes: pass --hosts if you need TF_CONFIG",
	.row =
		&(const struct source_row){
			.variables =
				{
					[ROW_NODE_RANK] = "BT_NODE_RANK",
					[ROW_NNODES] = "BT_GROUP_SIZE",
					[ROW_MASTER_ADDR] = "BT_LEADER_ADDR",
					[ROW_NPROC_PER_NODE] = "BT_NUM_GPUS",
					[ROW_JOB] = "BT_TRAINING_JOB_ID",
				},
			.known_by = ROW_MASTER_ADDR,
			.known_with = ROW_BIT(ROW_NODE_RANK) | ROW_BIT(ROW_NNODES),
		},
};

/*
 * Jobs of Saturn Cloud on several instances. The second of two:
 *
 *     SATURN_JOB_RANK=1   SATURN_JOB_SCALE=2   SATURN_JOB_RUN=j-1a2b
 *     SATURN_INTERNAL_SUBDOMAIN=jobs           SATURN_NAMESPACE=main
 *     SATURN_JOB_LEADER=j-1a2b-0.jobs.main.svc.cluster.local
 *
 * Reference: "Multi-Node Multi-GPU Parallel Training" in Saturn Cloud's documentation.
 */
const struct source source_saturn = {
	.name = "saturn",
	.about = "Saturn Cloud job of several instances",
	.row =
		&(const struct source_row){
			.variables =
				{
					[ROW_HOSTS] = "{SATURN_JOB_RUN}-{i}.{SATURN_INTERNAL_SUBDOMAIN}."
						      "{SATURN_NAMESPACE}.svc.cluster.local",
					[ROW_NODE_RANK] = "SATURN_JOB_RANK",
					[ROW_NNODES] = "SATURN_JOB_SCALE",
					[ROW_MASTER_ADDR] = "SATURN_JOB_LEADER",
				},
			.known_by = ROW_MASTER_ADDR,
			.known_with = ROW_BIT(ROW_NODE_RANK),
			.optional = ROW_BIT(ROW_HOSTS) | ROW_BIT(ROW_NNODES),
		},
};

/*
 * ML Jobs of Snowflake that run on each instance (parallel=True). The second of two:
 *
 *     MLRS_NODE_IPS=10.244.1.5,10.244.2.7   MLRS_HEAD_IP=10.244.1.5   MLRS_RDZV_PORT=12345
 *     SNOWFLAKE_JOB_INDEX=1                 SNOWFLAKE_JOBS_COUNT=2
 *
 * Without parallel=True there is no list: a Ray cluster starts the work from its head.
 *
 * Reference: samples/ml/ml_jobs/distributed_training of Snowflake, and the changelog of
 * snowflake-ml-python 1.54.
 */
const struct source source_snowflake = {
	.name = "snowflake",
	.about = "Snowflake ML Job on each instance (parallel=True)",
	.row =
		&(const struct source_row){
			.variables =
				{
					[ROW_HOSTS] = "MLRS_NODE_IPS",
					[ROW_NODE_RANK] = "SNOWFLAKE_JOB_INDEX",
					[ROW_NNODES] = "SNOWFLAKE_JOBS_COUNT",
					[ROW_MASTER_ADDR] = "MLRS_HEAD_IP",
					[ROW_MASTER_PORT] = "MLRS_RDZV_PORT",
				},
			.known_by = ROW_HOSTS,
			.known_with = ROW_BIT(ROW_NODE_RANK) | ROW_BIT(ROW_NNODES),
			.optional = ROW_BIT(ROW_MASTER_ADDR) | ROW_BIT(ROW_MASTER_PORT),
		},
};

static const struct source_row tione_row = {
	.variables =
		{
			[ROW_HOSTS] = "NODE_LIST",
			[ROW_NODE_RANK] = "INDEX",
			[ROW_NNODES] = "WORLD_SIZE",
			[ROW_MASTER_ADDR] = "MASTER_ADDR",
			[ROW_MASTER_PORT] = "MASTER_PORT",
			[ROW_NPROC_PER_NODE] = "GPU_NUM_PER_NODE",
		},
	.known_by = ROW_HOSTS,
	.known_with = ROW_BIT(ROW_NODE_RANK) | ROW_BIT(ROW_NNODES) | ROW_BIT(ROW_MASTER_ADDR) |
		      ROW_BIT(ROW_NPROC_PER_NODE),
	.optional = ROW_BIT(ROW_MASTER_PORT),
	.slots = true,
};

static const char *tione_detect(const struct input *in) {
	const char *by = row_detect(in, &tione_row), *rank = env_value(in->env, "RANK");
	return by && rank && strcmp(rank, env_get(in->env, "INDEX")) == 0 && !env_value(in->env, "LOCAL_RANK")
		       ? by
		       : NULL;
}

/*
 * DDP tasks of Tencent Cloud's TI-ONE. The second node of two:
 *
 *     NODE_LIST=timaker-x-launcher.training-job.svc.cluster.local:8,timaker-x-worker-0....:8
 *     INDEX=1   GPU_NUM_PER_NODE=8   GPU_NUM=16      INDEX is this node's place in NODE_LIST
 *     MASTER_ADDR=10.35.110.11       MASTER_PORT=23456
 *     WORLD_SIZE=2   RANK=1          nodes, which stay as they are
 *
 * MPI tasks have the same list, with a launcher first that is no node, but no RANK. Their ranks
 * may have one, beside what mpirun sets.
 *
 * Reference: "Guide to distributed training" of TI-ONE, at Tencent Cloud.
 */
const struct source source_tione = {
	.name = "tione",
	.about = "Tencent Cloud TI-ONE task, in DDP mode",
	.known_by = "NODE_LIST with INDEX, WORLD_SIZE, MASTER_ADDR and GPU_NUM_PER_NODE, and a "
		    "RANK that is the INDEX, without LOCAL_RANK",
	.detect = tione_detect,
	.row = &tione_row,
	.nodes_only = true,
};

/*
 * Leader and workers of a RoleBasedGroup, which serves models with SGLang or vLLM. The second pod
 * of two:
 *
 *     RBG_LWP_WORKER_INDEX=1   RBG_LWP_GROUP_SIZE=2
 *     RBG_LWP_LEADER_ADDRESS=qwen-decode-0-0.s-qwen-decode.default
 *
 * Reference: api/workloads/constants/env.go of RBG (v1alpha2). Earlier versions made a
 * LeaderWorkerSet.
 */
const struct source source_rbg = {
	.name = "rbg",
	.about = "RoleBasedGroup (RBG), leader and workers",
	.lacks = "the names of the nodes: pass --hosts if you need TF_CONFIG",
	.row =
		&(const struct source_row){
			.variables =
				{
					[ROW_NODE_RANK] = "RBG_LWP_WORKER_INDEX",
					[ROW_NNODES] = "RBG_LWP_GROUP_SIZE",
					[ROW_MASTER_ADDR] = "RBG_LWP_LEADER_ADDRESS",
				},
			.known_by = ROW_MASTER_ADDR,
			.known_with = ROW_BIT(ROW_NODE_RANK) | ROW_BIT(ROW_NNODES),
		},
};

/*
 * Roles of a ModelServing of Kthena, Volcano's sister project. The first worker of a role:
 *
 *     ENTRY_ADDRESS=ds-0-decode-0-0.default   GROUP_SIZE=2   WORKER_INDEX=1
 *
 * The entry pod has index 0.
 *
 * Reference: pkg/model-serving-controller/utils/utils.go of Kthena.
 */
const struct source source_kthena = {
	.name = "kthena",
	.about = "Kthena ModelServing, the pods of a role",
	.lacks = "the names of the nodes: pass --hosts if you need TF_CONFIG",
	.row =
		&(const struct source_row){
			.variables =
				{
					[ROW_NODE_RANK] = "WORKER_INDEX",
					[ROW_NNODES] = "GROUP_SIZE",
					[ROW_MASTER_ADDR] = "ENTRY_ADDRESS",
				},
			.known_by = ROW_MASTER_ADDR,
			.known_with = ROW_BIT(ROW_NODE_RANK) | ROW_BIT(ROW_NNODES),
			.numbers = ROW_BIT(ROW_NODE_RANK) | ROW_BIT(ROW_NNODES),
		},
};

/*
 * Pods of a PodSet in an AIBrix StormService (podGroupSize). The second of two:
 *
 *     PODSET_NAME=llm-roleset-x-decode-0   POD_GROUP_INDEX=1   POD_GROUP_SIZE=2
 *     STORM_SERVICE_NAME=llm               pod i is llm-roleset-x-decode-0-i.llm
 *
 * Reference: pkg/controller/podset/podset_controller.go of AIBrix; "Multi-Node Inference" in its
 * documentation.
 */
const struct source source_aibrix = {
	.name = "aibrix",
	.about = "AIBrix StormService, the pods of a PodSet",
	.row =
		&(const struct source_row){
			.variables =
				{
					[ROW_HOSTS] = "{PODSET_NAME}-{i}.{STORM_SERVICE_NAME}",
					[ROW_NODE_RANK] = "POD_GROUP_INDEX",
					[ROW_NNODES] = "POD_GROUP_SIZE",
				},
			.known_by = ROW_NODE_RANK,
			.known_with = ROW_BIT(ROW_NNODES),
			.numbers = ROW_BIT(ROW_NODE_RANK) | ROW_BIT(ROW_NNODES),
			.optional = ROW_BIT(ROW_HOSTS),
		},
};

/*
 * Multi-node tasks of HyperQueue, on the machines of national HPC sites. It starts a task on the
 * first of its nodes, like a job script:
 *
 *     HQ_JOB_ID=7   HQ_TASK_ID=0   HQ_NUM_NODES=2
 *     HQ_HOST_FILE=/tmp/hq-work/t1a2b/hq-hostfile    a host a line
 *     HQ_NODE_FILE=/tmp/hq-work/t1a2b/hq-nodefile    the same, without domains
 *
 * Its workers run in jobs of Slurm or PBS, often as a step, and a task inherits their variables.
 * These describe all workers, not this task.
 *
 * Reference: docs/jobs/multinode.md, crates/hyperqueue/src/worker/start/program.rs of HyperQueue.
 */
const struct source source_hyperqueue = {
	.name = "hyperqueue",
	.about = "HyperQueue task on several nodes",
	.leaves = "SLURM_*, PBS_*: of the job that HyperQueue's worker runs in; after an srun of your own, "
		  "pass "
		  "--cluster=slurm",
	.lacks = BATCH_LACKS,
	.row =
		&(const struct source_row){
			.variables = {[ROW_JOB] = "HQ_JOB_ID", [ROW_HOSTFILE] = "HQ_HOST_FILE|HQ_NODE_FILE"},
			.known_by = ROW_HOSTFILE,
			.known_with = ROW_BIT(ROW_JOB),
			.batch = true,
		},
};

static const struct source_row vessl_row = {
	.variables =
		{
			[ROW_NODE_RANK] = "RANK",
			[ROW_NNODES] = "NUM_NODES",
			[ROW_MASTER_ADDR] = "MASTER_ADDR",
			[ROW_MASTER_PORT] = "MASTER_PORT",
			[ROW_NPROC_PER_NODE] = "NUM_TRAINERS",
		},
	.known_by = ROW_NPROC_PER_NODE,
	.known_with = ROW_BIT(ROW_NODE_RANK) | ROW_BIT(ROW_NNODES) | ROW_BIT(ROW_MASTER_ADDR),
	.numbers = ROW_BIT(ROW_NODE_RANK) | ROW_BIT(ROW_NNODES),
	.optional = ROW_BIT(ROW_MASTER_PORT),
};

/** A RANK beside these counts processes. */
static const char *vessl_detect(const struct input *in) {
	const char *by = row_detect(in, &vessl_row);
	return by && !env_value(in->env, "LOCAL_RANK") && !env_value(in->env, "WORLD_SIZE") &&
			       !env_value(in->env, "NODE_RANK")
		       ? by
		       : NULL;
}

/*
 * Distributed experiments of VESSL. The second worker of two:
 *
 *     MASTER_ADDR=10.1.2.3   MASTER_PORT=23456
 *     NUM_NODES=2            NUM_TRAINERS=8      GPUs of a node
 *     RANK=1                                     of the node
 *
 * Reference: "Run distributed training jobs" of VESSL's documentation.
 */
const struct source source_vessl = {
	.name = "vessl",
	.about = "VESSL distributed experiment",
	.known_by = "NUM_TRAINERS with NUM_NODES, RANK and MASTER_ADDR, without WORLD_SIZE, LOCAL_RANK and "
		    "NODE_RANK",
	.lacks = "the names of the nodes: pass --hosts if you need TF_CONFIG",
	.detect = vessl_detect,
	.row = &vessl_row,
	.nodes_only = true,
};
