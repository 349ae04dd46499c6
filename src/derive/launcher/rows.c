// SPDX-License-Identifier: Apache-2.0

/** The launchers, the innermost first, as in list.h. */

#include "base/num.h"
#include "cluster/launcher.h"

/*
 * Processes that torchrun started. torchrun sets everything that torch.distributed reads
 * (MASTER_ADDR, RANK, LOCAL_RANK, ...). So there is nothing left to derive, under any manager.
 *
 * Reference: torch/distributed/elastic/agent/server/local_elastic_agent.py of PyTorch.
 */
const struct launcher launcher_torchrun = {
	.name = "torchrun",
	.about = "torchrun's child processes, which stay unchanged",
	.rank = "RANK",
	.size = "WORLD_SIZE",
	.local_rank = "LOCAL_RANK",
	.local_size = "LOCAL_WORLD_SIZE",
	.recognised_by = "TORCHELASTIC_RUN_ID",
	.row = "with=TORCHELASTIC_RUN_ID",
	.complete = true,
	.sets = (const char *const[]){"MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "LOCAL_RANK",
				      "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE", "ROLE_RANK",
				      "ROLE_NAME", "ROLE_WORLD_SIZE", "TORCHELASTIC_*", NULL},
};

/*
 * Processes that DeepSpeed's launcher started (deepspeed train.py). It sets, in rank 3 of four on
 * two nodes,
 *
 *     MASTER_ADDR=n1   MASTER_PORT=29500   RANK=3   WORLD_SIZE=4   LOCAL_RANK=1
 *     CROSS_RANK=1     CROSS_SIZE=2        LOCAL_SIZE=2       the node, the nodes, ranks on this node
 *
 * It sets no LOCAL_WORLD_SIZE. If srun or the like started it, their variables are still set: they
 * describe DeepSpeed's launcher, not this rank.
 *
 * Reference: deepspeed/launcher/launch.py of DeepSpeed.
 */
const struct launcher launcher_deepspeed = {
	.name = "deepspeed",
	.about = "DeepSpeed's child processes, which stay unchanged",
	.rank = "RANK",
	.size = "WORLD_SIZE",
	.local_rank = "LOCAL_RANK",
	.local_size = "LOCAL_SIZE",
	.recognised_by = "CROSS_SIZE",
	.row = "with=CROSS_RANK with=CROSS_SIZE with=LOCAL_SIZE with=LOCAL_RANK with=MASTER_ADDR",
	.complete = true,
	.sets = (const char *const[]){"MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "LOCAL_RANK",
				      "LOCAL_SIZE", "CROSS_RANK", "CROSS_SIZE", NULL},
};

/*
 * Horovod's own launcher (horovodrun --gloo). It sets variables for every rank. Rank 3 of four on
 * two nodes has
 *
 *     HOROVOD_RANK=3   HOROVOD_LOCAL_RANK=1   HOROVOD_HOSTNAME=n2
 *     HOROVOD_SIZE=4   HOROVOD_LOCAL_SIZE=2   HOROVOD_GLOO_RENDEZVOUS_ADDR=10.0.0.1
 *
 * It passes its own environment on to all nodes. Over MPI, mpirun numbers the ranks. In an
 * elastic job (HOROVOD_ELASTIC=1) the numbers change while it runs, so they are ignored.
 *
 * Reference: horovod/runner/gloo_run.py of Horovod.
 */
const struct launcher launcher_horovod = {
	.name = "horovod",
	.about = "Horovod's own launcher (horovodrun --gloo)",
	.rank = "HOROVOD_RANK",
	.size = "HOROVOD_SIZE",
	.local_rank = "HOROVOD_LOCAL_RANK",
	.local_size = "HOROVOD_LOCAL_SIZE",
	.host = {"HOROVOD_HOSTNAME"},
	.row = "with=HOROVOD_GLOO_RENDEZVOUS_ADDR without=HOROVOD_ELASTIC",
	.copies_env = true,
};

/*
 * Open MPI 4 and 5 (mpirun). Rank 3 of four on two nodes has
 *
 *     OMPI_COMM_WORLD_RANK=3   OMPI_COMM_WORLD_LOCAL_RANK=1
 *     OMPI_COMM_WORLD_SIZE=4   OMPI_COMM_WORLD_LOCAL_SIZE=2
 *     PMIX_HOSTNAME=n2         this process's host
 *
 * srun --mpi=pmix sets PMIX_NAMESPACE=slurm.pmix.20.0. Then mpirun's variables are left over: mpirun would
 * have set PMIX_NAMESPACE, too ("prterun-n1-29716@1").
 *
 * There is no list of hosts. Three variables look useful but are not used.
 * OMPI_COMM_WORLD_NODE_RANK is a rank on the node, not the node's rank. OMPI_UNIVERSE_SIZE counts
 * slots. The address in OMPI_MCA_orte_hnp_uri is mpirun's own, and rank 0 may run elsewhere.
 *
 * Reference: seen in real runs of Open MPI 4.1.4; src/mca/pmdl/ompi/pmdl_ompi.c of OpenPMIx.
 */
const struct launcher launcher_openmpi = {
	.name = "openmpi",
	.about = "Open MPI (mpirun)",
	.rank = "OMPI_COMM_WORLD_RANK",
	.size = "OMPI_COMM_WORLD_SIZE",
	.local_rank = "OMPI_COMM_WORLD_LOCAL_RANK",
	.local_size = "OMPI_COMM_WORLD_LOCAL_SIZE",
	.host = {"PMIX_HOSTNAME"},
	.row = "without=PMIX_NAMESPACE:slurm.*",
};

/*
 * MVAPICH2 (mpirun_rsh). Rank 0 of two on two nodes has
 *
 *     MV2_COMM_WORLD_RANK=0   MV2_COMM_WORLD_LOCAL_RANK=0
 *     MV2_COMM_WORLD_SIZE=2   MV2_COMM_WORLD_LOCAL_SIZE=1
 *
 * Reference: src/accelerate/utils/environment.py of Accelerate, which reads them.
 */
const struct launcher launcher_mvapich2 = {
	.name = "mvapich2",
	.about = "MVAPICH2 (mpirun_rsh)",
	.rank = "MV2_COMM_WORLD_RANK",
	.size = "MV2_COMM_WORLD_SIZE",
	.local_rank = "MV2_COMM_WORLD_LOCAL_RANK",
	.local_size = "MV2_COMM_WORLD_LOCAL_SIZE",
};

/*
 * PRRTE without Open MPI (prterun, prun). Rank 3 of four on two nodes has
 *
 *     PRTE_LAUNCHED=1   PMIX_RANK=3   PMIX_NAMESPACE=prterun-n1-334505@1
 *     PMIX_HOSTNAME=n2                this process's host
 *
 * Only the PMIx server knows the number of ranks. In a Slurm job, the SLURM_* of each rank describe
 * the daemon that started it. Others also set PMIX_RANK and PMIX_NAMESPACE, but not PRTE_LAUNCHED:
 * Slurm ("slurm.pmix.20.0"), CraneSched ("crane.pmix.12.1"), Flux (its job id), also in a Slurm step.
 *
 * Reference: seen in real runs of PRRTE 3.0.8; src/mca/schizo/prte/schizo_prte.c of PRRTE;
 * src/shell/plugins/main.c of flux-pmix (0a242303).
 */
static bool prrte_detect(const struct input *in) {
	return env_value(in->env, "PRTE_LAUNCHED") || !env_value(in->env, "FLUX_JOB_ID");
}

const struct launcher launcher_prrte = {
	.name = "prrte",
	.about = "PRRTE (prterun), which does not provide the number of ranks",
	.rank = "PMIX_RANK",
	.host = {"PMIX_HOSTNAME"},
	.row = "with=PRTE_LAUNCHED|PMIX_NAMESPACE with=PRTE_LAUNCHED|SLURM_STEP_ID "
	       "without=PMIX_NAMESPACE:slurm.*|crane.* without=OMPI_COMM_WORLD_RANK",
	.detect = prrte_detect,
};

/*
 * PALS, the launcher of HPE's Cray machines (mpiexec, aprun), mostly in PBS. Rank 5 of eight has
 *
 *     PALS_RANKID=5   PALS_LOCAL_RANKID=1   PALS_NODEID=1    this node's index
 *     PMI_SIZE=8      PALS_LOCAL_SIZE=4     PALS_APID=3d3a5b3e-...
 *
 * Slurm's plugin mpi/cray_shasta sets the same variables for its own tasks, with
 * PALS_APID=JOB.STEP: there, srun is the launcher. Flux's plugin pmi-cray-pals sets PALS_RANKID,
 * PALS_NODEID and PALS_APID, but no PALS_LOCAL_*: there, Flux is the launcher. If PALS started Flux's
 * brokers, its variables describe these, but PMI_RANK and PMI_SIZE are of Flux.
 *
 * Reference: issues 79 of flux-coral2 and 3825 of flux-core; src/shell/plugins/cray_pals.c of
 * flux-coral2 (044eb868); src/plugins/mpi/cray_shasta/mpi_cray_shasta.c of Slurm.
 */
static bool pals_detect(const struct input *in) {
	struct str rank = str_of(env_value(in->env, "FLUX_TASK_RANK"));
	uint32_t number;
	if (rank.len && num_read_u32(rank, &number) < 0) {
		return false; // an error of Flux: PALS_* would give each task the rank of its broker
	}
	bool plugin = !env_value(in->env, "PALS_LOCAL_RANKID") &&
		      str_eq(rank, str_of(env_value(in->env, "PALS_RANKID")));
	bool brokers =
		str_eq(rank, str_of(env_value(in->env, "PMI_RANK"))) &&
		str_eq(str_of(env_value(in->env, "FLUX_JOB_SIZE")), str_of(env_value(in->env, "PMI_SIZE")));
	return !rank.len || (!plugin && !brokers);
}

const struct launcher launcher_pals = {
	.name = "pals",
	.about = "PALS (mpiexec of HPE Cray)",
	.rank = "PALS_RANKID",
	.size = "PMI_SIZE",
	.local_rank = "PALS_LOCAL_RANKID",
	.local_size = "PALS_LOCAL_SIZE",
	.node = "PALS_NODEID",
	.row = "without=PALS_APID:{SLURM_JOB_ID}.{SLURM_STEP_ID}",
	.detect = pals_detect,
};

/*
 * MPICH's Hydra and Intel MPI (mpiexec). Rank 3 of four on two nodes has
 *
 *     PMI_RANK=3   MPI_LOCALRANKID=1
 *     PMI_SIZE=4   MPI_LOCALNRANKS=2
 *     PMI_HOSTNAME=n2                         this process's host (MPICH from 4.3 on)
 *     MPIR_CVAR_CH3_INTERFACE_HOSTNAME=n2     the same (MPICH before)
 *
 * Others (Slurm's pmi2, Flux, PALS) also set PMI_RANK and PMI_SIZE. Only Hydra sets the local pair.
 * Hydra copies mpiexec's environment to all nodes, so HOSTNAME and SLURMD_NODENAME name mpiexec's
 * node.
 *
 * Reference: seen in real runs of MPICH 4.0.2 and 4.2.1; src/pm/hydra/proxy/pmip_cb.c of MPICH
 * (PMI_HOSTNAME: commit 4909555f).
 */
const struct launcher launcher_hydra = {
	.name = "hydra",
	.about = "MPICH and Intel MPI (mpiexec, Hydra)",
	.rank = "PMI_RANK",
	.size = "PMI_SIZE",
	.local_rank = "MPI_LOCALRANKID",
	.local_size = "MPI_LOCALNRANKS",
	.host = {"PMI_HOSTNAME", "MPIR_CVAR_CH3_INTERFACE_HOSTNAME"},
	.row = "with=MPI_LOCALRANKID with=MPI_LOCALNRANKS",
	.copies_env = true,
};

/*
 * MVAPICH 3 (mpirun_rsh; its mpiexec is Hydra and sets the same). Rank 0 of two on two nodes has
 *
 *     MVP_COMM_WORLD_RANK=0   MVP_COMM_WORLD_LOCAL_RANK=0
 *     MVP_COMM_WORLD_SIZE=2   MVP_COMM_WORLD_LOCAL_SIZE=1
 *
 * MVAPICH 4 has neither mpirun_rsh nor these variables: its mpiexec is Hydra of MPICH 4.3.
 *
 * Reference: src/pm/mpirun/mpispawn.c of MVAPICH 3.0b and 3.0rc.
 */
const struct launcher launcher_mvapich = {
	.name = "mvapich",
	.about = "MVAPICH 3 (mpirun_rsh)",
	.rank = "MVP_COMM_WORLD_RANK",
	.size = "MVP_COMM_WORLD_SIZE",
	.local_rank = "MVP_COMM_WORLD_LOCAL_RANK",
	.local_size = "MVP_COMM_WORLD_LOCAL_SIZE",
};

/*
 * Azure Machine Learning, which starts the ranks of a PyTorch job itself. Rank 8 of 16 on two nodes
 * has
 *
 *     AZUREML_EXPERIMENT_ID=...   AZUREML_NODE_COUNT=2   NODE_RANK=1
 *     RANK=8   WORLD_SIZE=16      LOCAL_RANK=0           these count processes, not nodes
 *
 * Reference: "Distributed training" in Azure Machine Learning's documentation.
 */
const struct launcher launcher_azureml = {
	.name = "azureml",
	.about = "Azure Machine Learning's launcher for PyTorch",
	.rank = "RANK",
	.size = "WORLD_SIZE",
	.local_rank = "LOCAL_RANK",
	.recognised_by = "AZUREML_NODE_COUNT",
	// RANK is known to count processes only if these variables are set.
	.row = "with=AZUREML_EXPERIMENT_ID with=AZUREML_NODE_COUNT with=NODE_RANK with=LOCAL_RANK",
	.manager = "azureml",
};

/*
 * IBM's jsrun, the launcher of LSF's CORAL machines. Rank 3 of four has
 *
 *     JSM_NAMESPACE_RANK=3   JSM_NAMESPACE_LOCAL_RANK=1
 *     JSM_NAMESPACE_SIZE=4   JSM_NAMESPACE_LOCAL_SIZE=2
 *
 * Reference: src/lightning/fabric/plugins/environments/lsf.py of Lightning, which reads them.
 */
const struct launcher launcher_jsrun = {
	.name = "jsrun",
	.about = "IBM's jsrun",
	.rank = "JSM_NAMESPACE_RANK",
	.size = "JSM_NAMESPACE_SIZE",
	.local_rank = "JSM_NAMESPACE_LOCAL_RANK",
	.local_size = "JSM_NAMESPACE_LOCAL_SIZE",
};

/*
 * Flux, as the launcher of a task (for the manager see source/flux.c). Task 5 of eight has
 *
 *     FLUX_JOB_ID=f2e73NP (with a letter that is not ASCII)   FLUX_JOB_SIZE=8
 *     FLUX_TASK_RANK=5                                        FLUX_TASK_LOCAL_ID=1
 *
 * Reference: doc/man7/flux-environment.rst of flux-core.
 */
const struct launcher launcher_flux = {
	.name = "flux",
	.about = "Flux (flux run, flux submit)",
	.rank = "FLUX_TASK_RANK",
	.size = "FLUX_JOB_SIZE",
	.local_rank = "FLUX_TASK_LOCAL_ID",
	.recognised_by = "FLUX_JOB_ID",
	.row = "with=FLUX_JOB_ID",
};

/*
 * Spur's srun. Rank 3 of four has
 *
 *     SPUR_PROCID=3   SPUR_STEP_NUM_TASKS=4   SPUR_LOCALID=1   SPUR_NTASKS=4
 *
 * The script of a job has SPUR_PROCID, too. If it was submitted in a step, it inherits the number of
 * the step's tasks, but SPUR_NTASKS is its own. A malformed count is an error.
 *
 * Reference: crates/spur-core/src/spur_env.rs of Spur (4cc3da84, 2026-08).
 */
static bool spur_detect(const struct input *in) {
	struct str tasks = str_of(env_value(in->env, "SPUR_STEP_NUM_TASKS"));
	uint32_t unused;
	return str_eq(tasks, str_of(env_value(in->env, "SPUR_NTASKS"))) ||
	       (tasks.len && num_read_u32(tasks, &unused) < 0);
}

const struct launcher launcher_spur = {
	.name = "spur",
	.about = "Spur's srun",
	.rank = "SPUR_PROCID",
	.size = "SPUR_STEP_NUM_TASKS",
	.local_rank = "SPUR_LOCALID",
	.recognised_by = "SPUR_STEP_NUM_TASKS",
	.detect = spur_detect,
	.manager = "spur",
};

/*
 * CraneSched's crun. Rank 3 of four has
 *
 *     CRANE_PROCID=3   CRANE_NTASKS=4   CRANE_NODEID=1
 *
 * A script of cbatch has CRANE_PROCID=0 as well, and a crun in it passes that on to all its tasks. So 0
 * is a rank only if PMIx confirms it (crun --mpi=pmix): PMIX_RANK=0, PMIX_NAMESPACE=crane.pmix.12.1.
 *
 * Reference: src/Craned/Supervisor/TaskManager.cpp, src/Utilities/Pmix/Pmix.cpp of CraneSched
 * (f09bacd4, 2026-07); internal/util/os.go of its front end (e03e620b).
 */
static bool crane_detect(const struct input *in) {
	struct str step = str_of(env_value(in->env, "PMIX_NAMESPACE"));
	uint32_t rank;
	return num_read_u32(str_of(env_value(in->env, "CRANE_PROCID")), &rank) < 0 || rank > 0 ||
	       (str_starts(step, STR("crane.pmix.")) && str_is(str_of(env_value(in->env, "PMIX_RANK")), "0"));
}

const struct launcher launcher_crane = {
	.name = "crane",
	.about = "CraneSched's crun",
	.rank = "CRANE_PROCID",
	.size = "CRANE_NTASKS",
	.node = "CRANE_NODEID",
	.detect = crane_detect,
	.manager = "crane",
};

/*
 * Slurm's srun, as the launcher of a task. Rank 3 of six has
 *
 *     SLURM_PROCID=3   SLURM_STEP_NUM_TASKS=6   SLURM_LOCALID=1   SLURM_GTIDS=2,3
 *
 * This counts only in a real step: a batch script also has SLURM_PROCID=0, but is not a rank. The
 * source "slurm" recognises a real step. Under pyxis, the ENTRYPOINT runs once per node, in a step
 * but without SLURM_PROCID: that is not a task either.
 *
 * Reference: src/common/env.c of Slurm; seen in real runs of 22.05; pyxis_slurmstepd.c of pyxis.
 */
const struct launcher launcher_slurm = {
	.name = "slurm",
	.about = "Slurm's srun",
	.rank = "SLURM_PROCID",
	.size = "SLURM_STEP_NUM_TASKS",
	.local_rank = "SLURM_LOCALID",
	.ranks_here = "SLURM_GTIDS",
	.recognised_by = "SLURM_STEP_ID",
	.as_source = "slurm",
	.manager = "slurm",
};

/*
 * Any other launcher that uses PMI-1:
 *
 *     PMI_RANK=1   PMI_SIZE=4   PMI_LOCAL_RANK, PMI_LOCAL_SIZE (Cray only)
 *
 * With srun --mpi=pmi2, Slurm itself sets the first two, and PMI_JOBID=JOB.STEP. If these are set
 * but srun is not the launcher, they have leaked into a batch script that was submitted in such a
 * step.
 *
 * Reference: src/pmi of MPICH; seen in real runs of Slurm 22.05.
 */

/** Whether @text is two numbers joined by a dot. */
static bool is_step(struct str text) {
	size_t digits = 0, dots = 0;
	for (size_t i = 0; i < text.len; i++) {
		digits += text.p[i] >= '0' && text.p[i] <= '9';
		dots += text.p[i] == '.';
	}
	return dots == 1 && digits + dots == text.len;
}

static bool pmi_detect(const struct input *in) {
	// These are Hydra's. It was asked before and did not count, so its variables are left over.
	bool hydras = env_value(in->env, "MPI_LOCALRANKID") && env_value(in->env, "MPI_LOCALNRANKS");
	return !hydras &&
	       (!env_value(in->env, "SLURM_JOB_ID") || !is_step(str_of(env_value(in->env, "PMI_JOBID"))));
}

const struct launcher launcher_pmi = {
	.name = "pmi",
	.about = "any other launcher that uses PMI-1",
	.rank = "PMI_RANK",
	.size = "PMI_SIZE",
	.local_rank = "PMI_LOCAL_RANK",
	.local_size = "PMI_LOCAL_SIZE",
	.detect = pmi_detect,
};
