// SPDX-License-Identifier: Apache-2.0

/** Managers that need only a row. The values follow the documentation of each manager. */

#include "cluster/source.h"
#include "source/batch.h"
#include "source/row.h"

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
			.known_by_number = true,
		},
};
