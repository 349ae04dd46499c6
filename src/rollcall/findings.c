// SPDX-License-Identifier: Apache-2.0

#include "rollcall/findings.h"

#include "base/num.h"

/** Below these there is a hint. Engines give 64 MiB of shared memory unless told otherwise. */
#define SHM_SMALL_MIB	  1024
#define MEMLOCK_SMALL_KIB (64 * 1024)

/** What a variable of a manager promises. */
static const struct {
	const char *name;
	enum fact_group group;
	const char *fact;
} promises[] = {
	{"SLURM_GPUS_ON_NODE", FACTS_DEVICES, "gpus"},
	{"SKYPILOT_NUM_GPUS_PER_NODE", FACTS_DEVICES, "gpus"},
	{"SM_NUM_GPUS", FACTS_DEVICES, "gpus"},
	{"SLURM_CPUS_PER_TASK", FACTS_LIMITS, "cpus"},
	{"SLURM_MEM_PER_NODE", FACTS_LIMITS, "memory_mib"},
};

void findings_add(struct findings *out, bool hint, const char *about, const char *text) {
	out->at[out->n++] = (struct finding){about, text, hint};
}

/** The number in @text, or @otherwise. */
static uint64_t number_in(const char *text, uint64_t otherwise) {
	num_read(str_of(text), UINT64_MAX - 1, &otherwise);
	return otherwise;
}

/** What the facts are held against. */
struct checking {
	const struct facts *facts;
	struct findings *out;
};

/** A fact as a number. One that is not known, or unlimited, is large enough for everything. */
static uint64_t fact(const struct checking *c, enum fact_group group, const char *name) {
	return number_in(facts_find(&c->facts->list[group], name), UINT64_MAX);
}

/** Expect at least @n; @why is a clause. */
static void expect(const struct checking *c, enum fact_group group, const char *name, uint64_t n, bool hint,
		   const char *why) {
	uint64_t found = fact(c, group, name);
	if (found < n) {
		findings_add(c->out, hint, name,
			     arena_format(c->out->arena, "%s is %lu, and %lu are expected: %s", name,
					  (unsigned long)found, (unsigned long)n, why));
	}
}

/** A GPU may be split into several (MIG): then its parts are promised, and /dev shows the whole. */
static bool has_parts_of_gpus(const struct env *env) {
	const char *cuda = env_value(env, "CUDA_VISIBLE_DEVICES");
	const char *nvidia = env_value(env, "NVIDIA_VISIBLE_DEVICES");
	return (cuda && strstr(cuda, "MIG")) || (nvidia && strstr(nvidia, "MIG"));
}

static void expect_promises(const struct checking *c, const struct env *env) {
	bool parts = has_parts_of_gpus(env);
	for (size_t i = 0; i < sizeof(promises) / sizeof(promises[0]); i++) {
		const char *name = promises[i].name;
		if (promises[i].group != FACTS_DEVICES || !parts) {
			expect(c, promises[i].group, promises[i].fact, number_in(env_value(env, name), 0),
			       false, name);
		}
	}
}

/** Processes that are to be started here: 1 if this is not known. */
static uint32_t count_processes(const struct cluster *c) {
	bool known = c && c->scope != SCOPE_TASK && c->place.nproc_per_node != UNKNOWN;
	return known ? c->place.nproc_per_node : 1;
}

bool findings_is_master(const struct cluster *c) {
	if (!c || cluster_is_single(c) || cluster_is_vague(c) || c->scope == SCOPE_ALLOCATION) {
		return false;
	}
	return (c->scope == SCOPE_TASK ? c->task.rank : cluster_rendezvous_rank(c)) == 0;
}

/** The number of ranks, or 0. */
static uint64_t count_ranks(const struct cluster *c) {
	return c->task.world_size != UNKNOWN ? c->task.world_size
	       : c->nnodes != UNKNOWN	     ? (uint64_t)c->nnodes * count_processes(c)
					     : 0;
}

void findings_of(const struct facts_from *from, const struct facts *facts, bool may_lock,
		 struct findings *out) {
	const struct checking c = {facts, out};
	uint32_t n = count_processes(from->cluster);
	uint64_t gpus = fact(&c, FACTS_DEVICES, "gpus"), rdma = fact(&c, FACTS_DEVICES, "rdma");
	expect_promises(&c, from->env);
	expect(&c, FACTS_DEVICES, "gpus", gpus ? n : 0, true, "nproc_per_node");
	expect(&c, FACTS_LIMITS, "cpus", n, true, "nproc_per_node");
	if (n > 1 || (gpus > 1 && gpus != UINT64_MAX)) {
		expect(&c, FACTS_LIMITS, "shm_mib", SHM_SMALL_MIB, true,
		       "NCCL and data loaders may fill /dev/shm; engines take --shm-size or a volume in "
		       "memory");
	}
	if (rdma && rdma != UINT64_MAX) {
		expect(&c, FACTS_DEVICES, "rdma_verbs", 1, true,
		       "/dev/infiniband is not in this container, so NCCL will use TCP");
		expect(&c, FACTS_DEVICES, "rdma_active", 1, true, "no port of the RDMA devices is ACTIVE");
	}
	uint64_t verbs = fact(&c, FACTS_DEVICES, "rdma_verbs");
	if (verbs && verbs != UINT64_MAX && !may_lock) {
		expect(&c, FACTS_LIMITS, "memlock_kib", MEMLOCK_SMALL_KIB, true,
		       "RDMA locks memory; ulimit -l unlimited, or the capability ipc_lock");
	}
	if (findings_is_master(from->cluster)) {
		expect(&c, FACTS_LIMITS, "nofile", count_ranks(from->cluster), false,
		       "the master has a connection to each rank");
	}
}
