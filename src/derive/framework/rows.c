// SPDX-License-Identifier: Apache-2.0

/** Frameworks that need a few variables, a host file, or the network interface. */

#include "framework/framework.h"

/*
 * JAX. jax.distributed.initialize() reads JAX_COORDINATOR_ADDRESS and starts the coordinator in
 * process 0, so process 0 runs on the master. It does not read JAX_NUM_PROCESSES and
 * JAX_PROCESS_ID, which Kubeflow's trainer sets: programs pass these to it.
 *
 * Reference: jax/_src/distributed.py of JAX; pkg/runtime/framework/plugins/jax of Kubeflow's
 * trainer.
 */
static void jax_derive(struct derivation *d) {
	derive_address(d, "JAX_COORDINATOR_ADDRESS", "", d->cluster->master_port,
		       "the host of process 0, and the rendezvous port");
	derive_process(d, "JAX_COORDINATOR_ADDRESS", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID");
}

const struct framework framework_jax = {
	.name = "jax",
	.about = "jax.distributed",
	.sets = "JAX_COORDINATOR_ADDRESS JAX_NUM_PROCESSES JAX_PROCESS_ID",
	.derive = jax_derive,
};

/*
 * XGBoost's collective communication. The program starts a tracker on the master, which listens on
 * DMLC_TRACKER_URI and DMLC_TRACKER_PORT. DMLC_TASK_ID distinguishes the workers. XGBoost 1.x reads
 * these variables itself. From 2.1 on, the program passes them to CommunicatorContext(), which uses
 * the same names. DMLC_NUM_WORKER is for the program that starts the tracker, as in Kubeflow's
 * trainer.
 *
 * Reference: src/collective/comm_group.cc of XGBoost, rabit/src/allreduce_base.cc of 1.7;
 * pkg/runtime/framework/plugins/xgboost of Kubeflow's trainer.
 */
static void xgboost_derive(struct derivation *d) {
	const struct cluster *c = d->cluster;
	derive_master_addr(d, "DMLC_TRACKER_URI");
	derive_number(d, "DMLC_TRACKER_PORT", c->master_port, c->master_port_why);
	derive_process(d, "DMLC_TRACKER_URI", "DMLC_NUM_WORKER", "DMLC_TASK_ID");
}

const struct framework framework_xgboost = {
	.name = "xgboost",
	.about = "XGBoost's collective communication",
	.sets = "DMLC_TRACKER_URI DMLC_TRACKER_PORT DMLC_NUM_WORKER DMLC_TASK_ID",
	.derive = xgboost_derive,
};

/*
 * Open MPI's mpirun without -H: its default host file. Version 5 uses PRRTE's prterun, which has
 * its own parameters.
 *
 * Reference: orte_hosts(7) of Open MPI 4; src/runtime/prte_mca_params.c of PRRTE.
 */
const struct framework framework_mpi = {
	.name = "mpi",
	.about = "Open MPI's mpirun: a host file (--hostfile-output)",
	.sets = "OMPI_MCA_orte_default_hostfile PRTE_MCA_prte_default_hostfile",
	.hostfile = HOSTFILE_SLOTS,
	.derive = derive_hostfile,
};

/*
 * MPICH's and Intel MPI's mpiexec without -hosts: Hydra's host file, with lines "host:4".
 *
 * Reference: src/pm/hydra/mpiexec/utils.c of MPICH; Intel MPI's manual, "Hydra Environment
 * Variables".
 */
const struct framework framework_mpich = {
	.name = "mpich",
	.about = "MPICH's and Intel MPI's mpiexec: a host file (--hostfile-output)",
	.sets = "HYDRA_HOST_FILE I_MPI_HYDRA_HOST_FILE",
	.hostfile = HOSTFILE_COLON,
	.derive = derive_hostfile,
};

/*
 * Horovod. horovodrun reads a host file in Open MPI's form, in which all lines must have "slots=".
 * It takes the path only from its option: "horovodrun --hostfile FILE". So no variable is set here.
 * If mpirun starts the ranks instead, use `mpi`.
 *
 * Reference: horovod/runner/launch.py, horovod/runner/common/util/hosts.py of Horovod.
 */
const struct framework framework_horovod = {
	.name = "horovod",
	.about = "horovodrun --hostfile: a host file (--hostfile-output)",
	.sets = "",
	.hostfile = HOSTFILE_SLOTS,
	.derive = derive_hostfile,
};

/*
 * DeepSpeed's launcher. It reads a host file from /job/hostfile, or from its option: "deepspeed
 * --hostfile FILE". No variable sets the path. Each line must have "slots=", and each host only one
 * line.
 *
 * Reference: deepspeed/launcher/runner.py of DeepSpeed.
 */
const struct framework framework_deepspeed = {
	.name = "deepspeed",
	.about = "the deepspeed launcher: a host file (--hostfile-output=/job/hostfile)",
	.sets = "",
	.hostfile = HOSTFILE_SLOTS,
	.derive = derive_hostfile,
};

/*
 * AWS Neuron: its runtime and its PJRT client, for JAX and PyTorch. Process 0 listens at
 * NEURON_RT_ROOT_COMM_ID, beside the framework's own rendezvous. So it gets the next port, as in public
 * launch scripts. Under torchrun, libneuronxla sets the index of each child itself.
 *
 * NEURON_PJRT_PROCESSES_NUM_DEVICES, a list of each process's devices, is left to the user: no manager
 * provides it, and torchrun's children, which have one device each, inherit its value.
 *
 * Reference: set_rt_root_comm_id() and configure_pjrt_environment() in libneuronxla's PyTorch plugin; the
 * launch script for Slurm of axlearn.
 */
static const char neuron_root[] = "NEURON_RT_ROOT_COMM_ID";

static void neuron_derive(struct derivation *d) {
	const struct cluster *c = d->cluster;
	if (c->master_port == UINT16_MAX) {
		derive_leaves_out(d, neuron_root, "there is no next port");
	} else {
		derive_address(d, neuron_root, "", (uint16_t)(c->master_port + 1),
			       "the host of process 0, and the next port");
	}
	derive_process(d, neuron_root, NULL, "NEURON_PJRT_PROCESS_INDEX");
}

const struct framework framework_neuron = {
	.name = "neuron",
	.about = "AWS Neuron",
	.sets = "NEURON_RT_ROOT_COMM_ID NEURON_PJRT_PROCESS_INDEX",
	.derive = neuron_derive,
};

/*
 * Dask. Workers and clients without a given scheduler read its address from Dask's configuration, which
 * DASK_SCHEDULER_ADDRESS sets. `dask scheduler` runs on the master, and listens on 8786 by default.
 *
 * Reference: distributed/cli/dask_worker.py, distributed/cli/dask_scheduler.py and distributed/client.py
 * of Dask's distributed 2022.12.1.
 */
static void dask_derive(struct derivation *d) {
	derive_address(d, "DASK_SCHEDULER_ADDRESS", "tcp://", 8786,
		       "the host of rank 0, and Dask's own port");
}

const struct framework framework_dask = {
	.name = "dask",
	.about = "Dask, with its scheduler on the master",
	.sets = "DASK_SCHEDULER_ADDRESS",
	.derive = dask_derive,
};

/*
 * NCCL's network interface. Without this variable, NCCL takes the first interface whose name starts
 * with "ib", else the first that is neither docker's nor the loopback. The value is a list of name
 * prefixes. With a leading '=', it is a list of whole names: "=eth0" does not match eth01.
 *
 * Reference: NCCL's manual, "Environment Variables"; src/misc/socket.cc of NCCL.
 */
const struct framework framework_nccl = {
	.name = "nccl",
	.about = "the network interface, for NCCL",
	.sets = "NCCL_SOCKET_IFNAME",
	.interface = "NCCL_SOCKET_IFNAME",
	.exact_interface = true,
	.derive = derive_interface,
};

/*
 * The network interface of PyTorch's gloo backend. Without this variable, gloo uses the interface
 * of the address to which the host's own name resolves: in containers and on Debian often the
 * loopback. The value is a list of whole names.
 *
 * Reference: PyTorch's manual, "Distributed communication package";
 * torch/csrc/distributed/c10d/ProcessGroupGloo.cpp.
 */
const struct framework framework_gloo = {
	.name = "gloo",
	.about = "the network interface, for PyTorch's gloo",
	.sets = "GLOO_SOCKET_IFNAME",
	.interface = "GLOO_SOCKET_IFNAME",
	.derive = derive_interface,
};

/*
 * The network interface of PyTorch's TensorPipe (RPC). Without this variable, it uses the address to
 * which the host's own name resolves. The value is one whole name.
 *
 * Reference: PyTorch's torch/csrc/distributed/rpc/tensorpipe_agent.cpp.
 */
const struct framework framework_tensorpipe = {
	.name = "tensorpipe",
	.about = "the network interface, for PyTorch's TensorPipe",
	.sets = "TP_SOCKET_IFNAME",
	.interface = "TP_SOCKET_IFNAME",
	.derive = derive_interface,
};

/*
 * NVSHMEM's network interface for its start. The syntax is NCCL's: a leading '=' stands for whole names.
 *
 * Reference: NVSHMEM's manual, "Environment Variables", Bootstrap options.
 */
const struct framework framework_nvshmem = {
	.name = "nvshmem",
	.about = "the network interface, for the start of NVSHMEM",
	.sets = "NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME",
	.interface = "NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME",
	.exact_interface = true,
	.derive = derive_interface,
};

/*
 * This node's own address, for vLLM. Without this variable, vLLM takes the address of the default
 * route, which may belong to a card that the other nodes cannot reach.
 *
 * Reference: get_ip() in vllm/utils/network_utils.py of vLLM.
 */
const struct framework framework_vllm = {
	.name = "vllm",
	.about = "this node's own address, for vLLM",
	.sets = "VLLM_HOST_IP",
	.interface = "VLLM_HOST_IP",
	.own_address = true,
	.derive = derive_interface,
};

/*
 * This node's own address, for SGLang. Without this variable and HOST_IP, SGLang takes that of an
 * interface, or of the default route.
 *
 * Reference: get_local_ip_auto() in python/sglang/srt/utils of SGLang.
 */
const struct framework framework_sglang = {
	.name = "sglang",
	.about = "this node's own address, for SGLang",
	.sets = "SGLANG_HOST_IP",
	.interface = "SGLANG_HOST_IP",
	.own_address = true,
	.derive = derive_interface,
};
