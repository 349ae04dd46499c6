// SPDX-License-Identifier: Apache-2.0

/** Managers that need only a row, in the language of row.h, by the documentation of each. */

#include "cluster/source.h"
#include "source/pods.h"
#include "source/row.h"

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
	.leaves = "DSTACK_MPI_HOSTFILE, DSTACK_GPUS_NUM: they repeat other variables",
	.row = "hosts[\\n]!=DSTACK_NODES_IPS node-rank!=DSTACK_NODE_RANK nnodes=DSTACK_NODES_NUM "
	       "master-addr=DSTACK_MASTER_NODE_IP nproc-per-node=DSTACK_GPUS_PER_NODE "
	       "job=DSTACK_JOB_ID",
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
 * Reference: public scripts for it, and a description of lepton_env_to_pytorch.sh of
 * leptonai/scripts.
 */
const struct source source_lepton = {
	.name = "lepton",
	.about = "DGX Cloud Lepton batch job",
	.row = "node-rank!=LEPTON_JOB_WORKER_INDEX nnodes!=LEPTON_JOB_TOTAL_WORKERS "
	       "hosts?={LEPTON_JOB_WORKER_PREFIX|LEPTON_JOB_SERVICE_PREFIX|"
	       "LEPTON_JOB_NAME}-{i}.{LEPTON_SUBDOMAIN} "
	       "nproc-per-node=LEPTON_RESOURCE_ACCELERATOR_NUM job=LEPTON_JOB_NAME",
};

/*
 * Multi-node jobs of NVIDIA's NGC Base Command. The second replica of two:
 *
 *     NGC_ARRAY_INDEX=1   NGC_ARRAY_SIZE=2   NGC_MASTER_ADDR=launcher-svc-1234567
 *     NGC_GPUS_PER_NODE=8   NGC_JOB_ID=1234567
 *
 * If the replicas of a job do not work together, there is no master. The names of the other replicas
 * are not given.
 *
 * Reference: public training scripts that read them.
 */
const struct source source_ngc = {
	.name = "ngc",
	.about = "NGC Base Command job of several replicas",
	.row = "node-rank!=NGC_ARRAY_INDEX nnodes!=NGC_ARRAY_SIZE master-addr!=NGC_MASTER_ADDR "
	       "nproc-per-node=NGC_GPUS_PER_NODE job=NGC_JOB_ID",
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
	.row = "node-rank!=SENSECORE_PYTORCH_NODE_RANK nnodes!=SENSECORE_PYTORCH_NNODES "
	       "master-addr?=MASTER_ADDR master-port?=MASTER_PORT "
	       "nproc-per-node=SENSECORE_ACCELERATE_DEVICE_COUNT",
};

/*
 * Custom tasks of Volcengine's machine learning platform, also as BytePlus's. The second worker of
 * two:
 *
 *     MLP_WORKER_0_HOST=10.128.97.74   MLP_WORKER_0_PORT=2222
 *     MLP_WORKER_ALL_HOSTS=10.128.97.74,10.128.96.17
 *     MLP_WORKER_NUM=2   MLP_WORKER_GPU=8
 *     MLP_ROLE=worker    MLP_ROLE_INDEX=1      counts within the role
 *
 * Servers, schedulers and the like have other roles, and are not nodes.
 *
 * Reference: "List of common environment variables" of BytePlus's and Volcengine's documentation.
 */
const struct source source_volcengine = {
	.name = "volcengine",
	.about = "Volcengine or BytePlus ML platform's task, a worker",
	.leaves = "other roles: MLP_ROLE is not worker",
	.row = "master-addr!=MLP_WORKER_0_HOST nnodes!=MLP_WORKER_NUM node-rank!=MLP_ROLE_INDEX "
	       "with?=MLP_ROLE:worker|WORKER "
	       "hosts?=MLP_WORKER_ALL_HOSTS master-port?=MLP_WORKER_0_PORT "
	       "nproc-per-node=MLP_WORKER_GPU job=MLP_TASK_ID",
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
	.row = "master-addr!=ARNOLD_WORKER_0_HOST nnodes!=ARNOLD_WORKER_NUM|ARNOLD_NUM "
	       "node-rank!=ARNOLD_ID master-port?=ARNOLD_WORKER_0_PORT "
	       "nproc-per-node=ARNOLD_WORKER_GPU",
};

/*
 * Jobs of Tencent's Taiji and TI. The second host of two:
 *
 *     CHIEF_IP=28.1.2.3   INDEX=1   TAIJI_HOST_NUM=2   HOST_NUM=2
 *     NODE_IP_LIST=28.1.2.3:8,28.1.2.4:8     an address and its GPUs
 *     HOST_GPU_NUM=8   NODE_NUM=16           which counts GPUs
 *
 * Only the names with TAIJI in them are unmistakable.
 *
 * Reference: public training scripts that read them.
 */
const struct source source_taiji = {
	.name = "taiji",
	.about = "Tencent's Taiji job",
	.leaves = "NODE_NUM, TAIJI_NODE_NUM: they count GPUs",
	.row = "with=TAIJI_HOST_NUM|TAIJI_NODE_NUM master-addr!=CHIEF_IP node-rank!=INDEX "
	       "hosts?=NODE_IP_LIST "
	       "nnodes?=TAIJI_HOST_NUM|HOST_NUM nproc-per-node=HOST_GPU_NUM slots",
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
#define BRAINPP(prefix) \
	{ \
		.name = "brainpp", .about = "Brain++ job of several replicas", \
		.lacks = "the master, in most jobs: pass --master-addr or --hosts", \
		.row = "node-rank#=" prefix "_REPLICA nnodes#=" prefix "_REPLICA_TOTAL " \
		       "master-addr?=MASTER_ADDR master-port?=MASTER_PORT nproc-per-node=PROC_PER_NODE", \
	}
const struct source source_brainpp = BRAINPP("KUBEBRAIN");
const struct source source_brainpp_rlaunch = BRAINPP("RLAUNCH");

/*
 * Jobs of OpenPAI, whose tasks have roles. The second task of the role "worker" has
 *
 *     PAI_TASK_ROLE_LIST=ps_server,worker
 *     PAI_TASK_ROLE_TASK_COUNT_worker=2
 *     PAI_HOST_IP_worker_0=10.151.40.1   PAI_HOST_IP_worker_1=10.151.40.2
 *     PAI_CURRENT_TASK_ROLE_NAME=worker  PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX=1
 *
 * The nodes are the tasks of this task's own role. They have ports, too,
 * PAI_PORT_LIST_worker_0_http, but under labels that the user chooses, of which none is for a
 * rendezvous.
 *
 * Reference: the table of environment variables in OpenPAI's manual.
 */
const struct source source_openpai = {
	.name = "openpai",
	.about = "OpenPAI job: the tasks of this task's role",
	.leaves = "PAI_PORT_LIST_*: the user chooses what each port is for; tasks of other roles",
	.row = "with=PAI_CURRENT_TASK_ROLE_NAME node-rank!=PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX "
	       "nnodes={PAI_TASK_ROLE_TASK_COUNT_{PAI_CURRENT_TASK_ROLE_NAME}} "
	       "hosts={PAI_HOST_IP_{PAI_CURRENT_TASK_ROLE_NAME}_{i}} job=PAI_JOB_NAME shared",
};

/*
 * Steps of Metaflow that run on several nodes (@parallel). On Kubernetes, in a JobSet, worker 0 has
 *
 *     MF_MASTER_ADDR=js-1a2b-control-0-0.js-1a2b.default.svc.cluster.local   MF_MASTER_PORT=3389
 *     MF_WORLD_SIZE=3               nodes: the control task, and the workers
 *     MF_WORKER_REPLICA_INDEX=0     so it is node 1; the control task, node 0, has MF_CONTROL_INDEX=0
 *
 * Each is a Job of its own: JOB_COMPLETION_INDEX is 0 in all of them. On AWS Batch, and in processes
 * that a step starts, there are
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
	.row = "nnodes!=MF_WORLD_SIZE|MF_PARALLEL_NUM_NODES "
	       "node-rank!=MF_CONTROL_INDEX|MF_WORKER_REPLICA_INDEX+1|MF_PARALLEL_NODE_INDEX "
	       "master-addr!=MF_MASTER_ADDR|MF_PARALLEL_MAIN_IP master-port?=MF_MASTER_PORT",
};

/*
 * PyTorchJobs of Kubeflow's training operator (v1). The first of three workers, with eight
 * processes on each node, has
 *
 *     PET_NNODES=4    PET_NODE_RANK=1   PET_NPROC_PER_NODE=8
 *     MASTER_ADDR=bert-master-0         MASTER_PORT=23456     and both as PET_MASTER_*, too
 *     WORLD_SIZE=32   RANK=1            WORLD_SIZE counts processes, RANK counts nodes
 *
 * Only the master's name is given. An elastic job, whose PET_NNODES is a range, has PET_RDZV_*
 * instead. torchrun manages such a job itself.
 *
 * Reference: pkg/controller.v1/pytorch of Kubeflow's training operator 1.9.
 */
const struct source source_pytorchjob = {
	.name = "pytorchjob",
	.about = "Kubeflow PyTorchJob (v1)",
	.leaves = "RANK and WORLD_SIZE: RANK counts nodes, but WORLD_SIZE counts processes; a range in "
		  "PET_NNODES",
	.lacks = "the workers' names: pass --hosts if you need TF_CONFIG",
	.row = "master-addr!=PET_MASTER_ADDR:*-master-0 nnodes!=PET_NNODES without=PET_NNODES:*:* "
	       "node-rank=PET_NODE_RANK master-port?=PET_MASTER_PORT nproc-per-node=PET_NPROC_PER_NODE",
};

/*
 * PaddleJobs of Kubeflow's training operator (v1), of workers only. The second of two has
 *
 *     PADDLE_JOB_ID=ernie   PADDLE_NNODES=2
 *     PADDLE_MASTER=ernie-worker-0:36543     in worker 0 its own address, and POD_IP_DUMMY
 *
 * and the host name ernie-worker-1, which is the only source of its number. These are also the
 * launcher's own settings, which a user may make: so the host name must belong to the job.
 *
 * Jobs with a master have PADDLE_SERVER_NUM or PADDLE_TRAINER_NUM, too: those are parameter
 * servers.
 *
 * Reference: pkg/controller.v1/paddlepaddle/envvar.go of Kubeflow's training operator.
 */
const struct source source_paddlejob = {
	.name = "paddlejob",
	.about = "Kubeflow PaddleJob (v1) with workers only",
	.leaves = "jobs with parameter servers: PADDLE_SERVER_NUM or PADDLE_TRAINER_NUM",
	.row = "with=PADDLE_MASTER nnodes#=PADDLE_NNODES with={hostname}:{PADDLE_JOB_ID}-worker-* "
	       "without=PADDLE_SERVER_NUM|PADDLE_TRAINER_NUM hosts={PADDLE_JOB_ID}-worker-{i} "
	       "master-port=PADDLE_MASTER job=PADDLE_JOB_ID",
};

/*
 * JAXJobs of Kubeflow's training operator (v1). The third of three workers has
 *
 *     NUM_PROCESSES=3   PROCESS_ID=2   COORDINATOR_ADDRESS=job-worker-0   COORDINATOR_PORT=6666
 *
 * These names are common. So they count only if all four are set and the coordinator's name has
 * this form.
 *
 * Reference: pkg/controller.v1/jax/envvar.go of Kubeflow's training operator 1.9.
 */
const struct source source_jaxjob = {
	.name = "jaxjob",
	.about = "Kubeflow JAXJob (v1)",
	.row = "with=COORDINATOR_ADDRESS:*-worker-0 master-port!=COORDINATOR_PORT nnodes!=NUM_PROCESSES "
	       "node-rank!=PROCESS_ID hosts={COORDINATOR_ADDRESS#i}",
};

/*
 * XGBoostJobs of Kubeflow's training operator (v1), for XGBoost and LightGBM. The first of two
 * workers has
 *
 *     MASTER_ADDR=job-master-0   MASTER_PORT=9999   WORLD_SIZE=3   RANK=1
 *     WORKER_PORT=9999           WORKER_ADDRS=job-worker-0,job-worker-1
 *
 * RANK and WORLD_SIZE count pods here: there are WORLD_SIZE - 1 workers.
 *
 * Reference: pkg/controller.v1/xgboost/xgboost.go of Kubeflow's training operator 1.9.
 */
#define XGBOOSTJOB \
	"with=WORKER_ADDRS with=MASTER_ADDR:*-master-0 nnodes!=WORLD_SIZE node-rank!=RANK " \
	"hosts={MASTER_ADDR},{WORKER_ADDRS}"

static const char *xgboostjob_detect(const struct input *in) {
	const char *by = row_detect(in, XGBOOSTJOB);
	struct str workers = str_of(env_value(in->env, "WORKER_ADDRS")), first = {0};
	str_cut(&workers, ',', &first);
	// Another operator may have set MASTER_ADDR: it must be of the workers' job.
	return by && pod_rank(str_of(env_value(in->env, "MASTER_ADDR")), first) == 1 ? by : NULL;
}

const struct source source_xgboostjob = {
	.name = "xgboostjob",
	.about = "Kubeflow XGBoostJob (v1), for XGBoost or LightGBM",
	.known_by = "WORKER_ADDRS that begins with JOB-worker-0, with MASTER_ADDR=JOB-master-0, WORLD_SIZE "
		    "and RANK",
	.detect = xgboostjob_detect,
	.row = XGBOOSTJOB,
};

/*
 * Google's gpu-recipes for GKE, whose Helm charts make a JobSet (in some, a Job). The second of two
 * nodes has
 *
 *     JOB_ORCHESTRATOR=gke   JOB_IDENTIFIER=llama-1767225600
 *     JOB_COMPLETION_INDEX=1   NNODES=2   GPUS_PER_NODE=8
 *     MASTER_ADDR=llama-workload-0-0.llama.default.svc.cluster.local   MASTER_PORT=6002
 *     WORLD_SIZE=16                    GPUs
 *
 * Most of these are common words: so MASTER_ADDR must be the name of a first pod, and the charts'
 * own JOB_ORCHESTRATOR must be there.
 *
 * Reference: src/helm-charts of AI-Hypercomputer/gpu-recipes, commit 2e1fd5e (2026-08):
 * a4/jobset/templates/workload-jobset.yaml, a3ultra/job/templates/workload-job.yaml.
 */
const struct source source_gpurecipes = {
	.name = "gpurecipes",
	.about = "Google's gpu-recipes on GKE: a JobSet or a Job",
	.leaves = "WORLD_SIZE: it counts GPUs",
	.row = "with=JOB_ORCHESTRATOR:gke nnodes#=NNODES node-rank#=JOB_COMPLETION_INDEX "
	       "with=MASTER_ADDR:*-0 hosts={MASTER_ADDR#i} master-port?=MASTER_PORT "
	       "nproc-per-node=GPUS_PER_NODE job=JOB_IDENTIFIER",
};

/*
 * Clustered tasks of Flyte 2, each a JobSet. Its entry point, "clustered", starts torchrun. Before it, the
 * second of two pods has
 *
 *     JOBSET_NAME=a1b2   POD_NAMESPACE=flyte   JOB_COMPLETION_INDEX=1   JOBSET_RESTART_ATTEMPT=0
 *     NNODES=2           NPROC_PER_NODE=8      RDZV_BACKEND=static
 *
 * Reference: src/flyte/_bin/clustered.py of flyte-sdk (0bdeaed9, 2026).
 */
const struct source source_flyte = {
	.name = "flyte",
	.about = "Flyte 2, a clustered task",
	.row = "with=JOBSET_NAME with=POD_NAMESPACE with=JOBSET_RESTART_ATTEMPT with=RDZV_BACKEND "
	       "nnodes#=NNODES "
	       "node-rank#=JOB_COMPLETION_INDEX nproc-per-node=NPROC_PER_NODE job=JOBSET_NAME "
	       "hosts={JOBSET_NAME}-workers-0-{i}.{JOBSET_NAME}.{POD_NAMESPACE}.svc.cluster.local",
};

/*
 * GPU jobs of AXLearn on GKE, each a JobSet. The second of two nodes has
 *
 *     DISTRIBUTED_COORDINATOR=exp-job-0-0.exp:8080   NUM_PROCESSES=2   PROCESS_ID=1
 *
 * Reference: axlearn/cloud/gcp/jobset_utils.py of AXLearn (04080060).
 */
const struct source source_axlearn = {
	.name = "axlearn",
	.about = "AXLearn's GPU jobs on GKE",
	.row = "with=DISTRIBUTED_COORDINATOR:*-0-0 nnodes#=NUM_PROCESSES node-rank#=PROCESS_ID "
	       "hosts={DISTRIBUTED_COORDINATOR#i} master-port?=DISTRIBUTED_COORDINATOR:*:*",
};

/*
 * PyTorch jobs of the Ascend operator (MindX, MindCluster). The second pod of two, with eight NPUs
 * in each:
 *
 *     MASTER_ADDR=10.244.3.7   MASTER_PORT=2222
 *     WORLD_SIZE=16   LOCAL_WORLD_SIZE=8          NPUs: of the job, and of this pod
 *     RANK=1                                      the pod
 *     LOCAL_RANK=0,1,2,3,4,5,6,7                  a list; only Ascend sets one
 *
 * With one NPU in a pod, LOCAL_RANK is 0, and the variables look like those of any ranks. Then this
 * manager is not recognised, and RANK and WORLD_SIZE are right as they are.
 *
 * Reference: setPytorchEnv() of the operator's controller.
 */
const struct source source_ascend = {
	.name = "ascend",
	.about = "PyTorch job of the Ascend operator (MindX)",
	.leaves = "LOCAL_RANK=0, in a pod with one NPU: it looks the same as a rank's",
	.row = "nproc-per-node!=LOCAL_WORLD_SIZE node-rank!=RANK master-addr!=MASTER_ADDR "
	       "with=LOCAL_RANK:0,1* "
	       "nnodes=WORLD_SIZE/LOCAL_WORLD_SIZE master-port?=MASTER_PORT",
};

/*
 * Google Batch jobs with a task on each of several machines. The second of two:
 *
 *     BATCH_NODE_INDEX=1   BATCH_NODE_COUNT=2   BATCH_TASK_COUNT=2
 *     BATCH_MAIN_NODE_HOSTNAME=j-9f6b-group0-0-x1y2   BATCH_JOB_UID=j-9f6b
 *
 * BATCH_HOSTS_FILE lists the machines if a job asks for it, in an undocumented order.
 *
 * Reference: torchx/schedulers/gcp_batch_scheduler.py of TorchX. BATCH_TASK_COUNT is not
 * confirmed by a source.
 */
const struct source source_googlebatch = {
	.name = "googlebatch",
	.about = "Google Batch job, a task on each of several machines",
	.leaves = "BATCH_HOSTS_FILE, whose order is not documented; BATCH_TASK_INDEX",
	.row = "master-addr!=BATCH_MAIN_NODE_HOSTNAME nnodes!=BATCH_NODE_COUNT "
	       "node-rank!=BATCH_NODE_INDEX with?=BATCH_TASK_COUNT:{BATCH_NODE_COUNT} "
	       "job=BATCH_JOB_UID",
};

/*
 * Spur, AMD's scheduler with Slurm's commands. The script of a job runs on each node, unless it calls
 * srun. The second node of two:
 *
 *     SPUR_NODELIST=mi1,mi2   SPUR_NNODES=2   SPUR_NODEID=1   SPUR_JOB_ID=42
 *     MASTER_ADDR=10.0.0.1    MASTER_PORT=29500   WORLD_SIZE=2   RANK=1     nodes, which stay
 *
 * Most of them are also set as SLURM_*, but SLURM_STEP_NODELIST is not. SPUR_NODE_RANK is the same
 * number, but srun passes on the value of the script.
 *
 * Reference: crates/spurd/src/agent_server.rs, crates/spur-core/src/spur_env.rs of Spur (4cc3da84,
 * 2026-08).
 */
const struct source source_spur = {
	.name = "spur",
	.about = "Spur jobs: the script on each node, and srun",
	.leaves =
		"SPUR_NODE_RANK, RANK, WORLD_SIZE: srun passes on those of the script, so unset them there; "
		"SLURM_*",
	.row = "hosts!=SPUR_NODELIST node-rank!=SPUR_NODEID nnodes!=SPUR_NNODES job!=SPUR_JOB_ID shared",
};

/*
 * PBS Professional, OpenPBS and Torque. In a job script on three nodes:
 *
 *     PBS_JOBID=1234.server            or 1234[7].server, the seventh of an array
 *     PBS_NODEFILE=/var/spool/pbs/aux/1234.server
 *
 * The file has one line per slot (mpiprocs, ppn), with the name of its host. Lines of the same host
 * may be apart. The file exists only on the job's first node, and a container sees it only through
 * a bind mount. PBS_NODENUM counts the nodes, but ssh passes it on, and PBS_TASKNUM counts
 * something else: neither is used.
 *
 * Reference: doc/man1/qsub.1B and src/resmom/start_exec.c of OpenPBS.
 */
const struct source source_pbs = {
	.name = "pbs",
	.about = "PBS and Torque jobs: the script, and mpirun or mpiexec in it",
	.leaves = "PBS_NODENUM: stale after ssh; PBS_TASKNUM",
	.row = "job!=PBS_JOBID hostfile!=PBS_NODEFILE slots batch",
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
	.row = "job!=COBALT_JOBID hostfile!=COBALT_NODEFILE batch",
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
	.row = "hostfile!=LOADL_HOSTFILE job=LOADL_STEP_ID slots batch",
};

/*
 * OAR, the scheduler of Grid'5000. In a job's script, on its first node:
 *
 *     OAR_JOB_ID=1234567   OAR_NODEFILE=/var/lib/oar/1234567    a host a line, for each core
 *
 * Reference: public job scripts and user manuals.
 */
const struct source source_oar = {
	.name = "oar",
	.about = "OAR jobs: the script, and mpirun in it",
	.row = "job!=OAR_JOB_ID hostfile!=OAR_NODEFILE slots batch",
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
	.leaves = "PJM_NODE, PJM_MPI_PROC: they are the numbers that the job asked for",
	.row = "job!=PJM_JOBID hostfile!=PJM_O_NODEINF batch",
};

/*
 * Tasks of Mithril's Flow on several instances. The second of two:
 *
 *     NUM_NODES=2   NODE_RANK=1   HEAD_NODE_IP=10.0.0.4   GPU_COUNT=8   FLOW_TASK_NAME=train
 *
 * RANK, WORLD_SIZE and LOCAL_RANK may be there as well, and stay as they are.
 *
 * Reference: "Multi-node training" in Mithril's documentation (2026-11).
 */
const struct source source_mithril = {
	.name = "mithril",
	.about = "Mithril Flow task on several instances",
	.row = "master-addr!=HEAD_NODE_IP node-rank#=NODE_RANK nnodes#=NUM_NODES nproc-per-node=GPU_COUNT "
	       "job=FLOW_TASK_NAME",
	.nodes_only = true,
};

/*
 * Nodes that are given plainly: by RunPod's instant clusters, MosaicML, Databricks' AI runtime, and
 * jobs made by hand. The second node of two:
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
	.leaves = "WORLD_SIZE, RANK: they count processes; a range in NNODES; ranks of a launcher",
	.row = "node-rank#=NODE_RANK nnodes#=NNODES|NUM_NODES|NODE_COUNT "
	       "master-addr!=MASTER_ADDR without=LOCAL_RANK "
	       "with?=NUM_NODES:{NNODES|NUM_NODES} with?=NODE_COUNT:{NNODES|NUM_NODES|NODE_COUNT} "
	       "master-port?=MASTER_PORT "
	       "nproc-per-node=NPROC_PER_NODE|NUM_TRAINERS|LOCAL_WORLD_SIZE",
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
	.lacks = "the number of nodes and this node's rank: pass --nnodes and --node-rank, or --hosts",
	.row = "master-addr!=DET_CHIEF_IP job=DET_TRIAL_ID",
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
	.row = "node-rank#=NOMAD_ALLOC_INDEX job=NOMAD_JOB_NAME",
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
	.row = "master-addr!=BEAKER_LEADER_REPLICA_HOSTNAME node-rank!=BEAKER_REPLICA_RANK "
	       "nnodes!=BEAKER_REPLICA_COUNT nproc-per-node=BEAKER_ASSIGNED_GPU_COUNT "
	       "job=BEAKER_EXPERIMENT_ID",
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
	.row = "master-addr!=BT_LEADER_ADDR node-rank!=BT_NODE_RANK nnodes!=BT_GROUP_SIZE "
	       "nproc-per-node=BT_NUM_GPUS job=BT_TRAINING_JOB_ID",
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
	.row = "master-addr!=SATURN_JOB_LEADER node-rank!=SATURN_JOB_RANK nnodes?=SATURN_JOB_SCALE "
	       "hosts?={SATURN_JOB_RUN}-{i}.{SATURN_INTERNAL_SUBDOMAIN}.{SATURN_NAMESPACE}.svc.cluster.local",
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
	.row = "hosts!=MLRS_NODE_IPS node-rank!=SNOWFLAKE_JOB_INDEX nnodes!=SNOWFLAKE_JOBS_COUNT "
	       "master-addr?=MLRS_HEAD_IP master-port?=MLRS_RDZV_PORT",
};

/*
 * DDP tasks of Tencent Cloud's TI-ONE. The second node of two:
 *
 *     NODE_LIST=timaker-x-launcher.training-job.svc.cluster.local:8,timaker-x-worker-0....:8
 *     INDEX=1   GPU_NUM_PER_NODE=8   GPU_NUM=16      INDEX is this node's index in NODE_LIST
 *     MASTER_ADDR=10.35.110.11       MASTER_PORT=23456
 *     WORLD_SIZE=2   RANK=1          nodes, which stay as they are
 *
 * MPI tasks have the same list, but no RANK; the first entry is the launcher, which is not a node. Their
 * ranks may have RANK, besides the variables of mpirun.
 *
 * Reference: "Guide to distributed training" of TI-ONE, at Tencent Cloud.
 */
const struct source source_tione = {
	.name = "tione",
	.about = "Tencent Cloud TI-ONE task, in DDP mode",
	.row = "hosts!=NODE_LIST node-rank!=INDEX nnodes!=WORLD_SIZE master-addr!=MASTER_ADDR "
	       "nproc-per-node!=GPU_NUM_PER_NODE with=RANK:{INDEX} without=LOCAL_RANK "
	       "master-port?=MASTER_PORT slots",
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
	.row = "master-addr!=RBG_LWP_LEADER_ADDRESS node-rank!=RBG_LWP_WORKER_INDEX "
	       "nnodes!=RBG_LWP_GROUP_SIZE",
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
	.row = "master-addr!=ENTRY_ADDRESS node-rank#=WORKER_INDEX nnodes#=GROUP_SIZE",
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
		  "pass --cluster=slurm",
	.row = "hostfile!=HQ_HOST_FILE|HQ_NODE_FILE job!=HQ_JOB_ID batch",
};

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
	.row = "nproc-per-node!=NUM_TRAINERS node-rank#=RANK nnodes#=NUM_NODES master-addr!=MASTER_ADDR "
	       "without=WORLD_SIZE|LOCAL_RANK|NODE_RANK master-port?=MASTER_PORT",
	.nodes_only = true,
};
