// SPDX-License-Identifier: Apache-2.0

#include "rollcall/findings.h"

#include "base/num.h"

#include <stdarg.h>

#define MIB ((uint64_t)1 << 20)

/** Below these there is a hint. Engines give 64 MiB of shared memory unless told otherwise. */
#define SHM_SMALL     (1024 * MIB)
#define MEMLOCK_SMALL (64 * MIB)

void findings_add(struct findings *out, bool hint, const char *about, const char *format, ...) {
	va_list args;
	va_start(args, format);
	out->at[out->n++] = (struct finding){about, arena_vformat(out->arena, format, args), hint};
	va_end(args);
}

/** The number in the variable @name, or 0. Slurm also writes "a100:8,h100:2" in some: no number. */
static uint64_t promised(const struct facts_from *from, const char *name) {
	uint64_t number = 0;
	num_read(str_of(env_value(from->env, name)), UINT32_MAX, &number);
	return number;
}

/** A GPU may be split into several (MIG): then its parts are promised, and /dev shows the whole. */
static bool has_parts_of_gpus(const struct facts_from *from) {
	const char *cuda = env_value(from->env, "CUDA_VISIBLE_DEVICES");
	const char *nvidia = env_value(from->env, "NVIDIA_VISIBLE_DEVICES");
	return (cuda && strstr(cuda, "MIG")) || (nvidia && strstr(nvidia, "MIG"));
}

static void check_gpus(const struct facts_from *from, const struct machine *m, struct findings *out) {
	static const char *const names[] = {"SLURM_GPUS_ON_NODE", "SKYPILOT_NUM_GPUS_PER_NODE",
					    "SM_NUM_GPUS"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint64_t n = promised(from, names[i]);
		if (n != 0 && m->gpus < n && !has_parts_of_gpus(from)) {
			findings_add(out, false, "gpus", "%s promises %lu GPUs, but /dev has %lu", names[i],
				     (unsigned long)n, (unsigned long)m->gpus);
		}
	}
}

static void check_cpus(const struct facts_from *from, const struct machine *m, struct findings *out) {
	uint64_t n = promised(from, "SLURM_CPUS_PER_TASK");
	if (m->cpus < n) {
		findings_add(out, false, "cpus",
			     "SLURM_CPUS_PER_TASK promises %lu CPUs, but this process may use %lu (affinity "
			     "and cgroup); srun needs its own --cpus-per-task",
			     (unsigned long)n, (unsigned long)m->cpus);
	}
	n = promised(from, "SLURM_MEM_PER_NODE") * MIB;
	if (m->memory < n) {
		findings_add(out, false, "memory", "SLURM_MEM_PER_NODE promises %s, but the limit is %s",
			     fact_size(out->arena, n), fact_size(out->arena, m->memory));
	}
}

/** Processes that are to be started here: 1 if this is not known. */
static uint32_t count_processes(const struct cluster *c) {
	bool known = c && c->scope != SCOPE_TASK && c->place.nproc_per_node != UNKNOWN;
	return known ? c->place.nproc_per_node : 1;
}

static void check_processes(const struct facts_from *from, const struct machine *m, struct findings *out) {
	uint32_t n = count_processes(from->cluster);
	if (m->gpus && m->gpus < n) {
		findings_add(out, true, "nproc_per_node", "%u processes will share %lu GPUs", n,
			     (unsigned long)m->gpus);
	}
	if (m->cpus < n) {
		findings_add(out, true, "nproc_per_node", "%u processes will share %lu CPUs", n,
			     (unsigned long)m->cpus);
	}
	bool several = n > 1 || (m->gpus > 1 && m->gpus != MACHINE_UNKNOWN);
	if (several && m->shm < SHM_SMALL) {
		findings_add(out, true, "shm",
			     "/dev/shm has %s, which NCCL and data loaders may fill ('Bus error'); engines "
			     "take --shm-size or a volume of type memory",
			     fact_size(out->arena, m->shm));
	}
}

static void check_rdma(const struct machine *m, bool may_lock, struct findings *out) {
	if (m->rdma_devices && !m->rdma_verbs) {
		findings_add(
			out, true, "infiniband",
			"the kernel has %lu RDMA devices, but /dev/infiniband has none: NCCL will use TCP",
			(unsigned long)m->rdma_devices);
	} else if (m->rdma_verbs && !m->rdma_active) {
		findings_add(out, true, "infiniband", "no port of %lu RDMA devices is ACTIVE",
			     (unsigned long)m->rdma_devices);
	}
	if (m->rdma_verbs && !may_lock && m->memlock < MEMLOCK_SMALL) {
		findings_add(
			out, true, "memlock",
			"RDMA needs locked memory, and RLIMIT_MEMLOCK is %s; set it to unlimited, or give "
			"the capability ipc_lock",
			fact_size(out->arena, m->memlock));
	}
}

bool findings_is_master(const struct cluster *c) {
	if (!c || cluster_is_single(c) || cluster_is_vague(c) || c->scope == SCOPE_ALLOCATION) {
		return false;
	}
	return (c->scope == SCOPE_TASK ? c->task.rank : cluster_rendezvous_rank(c)) == 0;
}

/** The master holds a connection to each rank. */
static void check_files(const struct facts_from *from, const struct machine *m, struct findings *out) {
	const struct cluster *c = from->cluster;
	if (!findings_is_master(c)) {
		return;
	}
	uint64_t ranks = c->task.world_size != UNKNOWN ? c->task.world_size
			 : c->nnodes != UNKNOWN	       ? (uint64_t)c->nnodes * count_processes(c)
						       : 0;
	if (m->nofile < ranks) {
		findings_add(out, false, "nofile",
			     "the master needs a descriptor for each of %lu ranks, and RLIMIT_NOFILE is %lu",
			     (unsigned long)ranks, (unsigned long)m->nofile);
	}
}

void findings_of(const struct facts_from *from, const struct machine *m, bool may_lock,
		 struct findings *out) {
	check_gpus(from, m, out);
	check_cpus(from, m, out);
	check_processes(from, m, out);
	check_rdma(m, may_lock, out);
	check_files(from, m, out);
}
