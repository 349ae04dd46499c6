// SPDX-License-Identifier: Apache-2.0

#include "facts/findings.h"

#include "base/num.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

/** Smaller values get a hint. Engines give 64 MiB of shared memory by default. */
#define SHM_SMALL_MIB	  1024
#define MEMLOCK_SMALL_KIB (64 * 1024)

/** Variables of managers, and the facts that they promise. */
static const struct {
	const char *variable;
	const char *fact;
} promises[] = {
	{"SLURM_GPUS_ON_NODE", "gpus"},
	{"SLURM_GPUS_PER_NODE", "gpus"},
	{"SLURM_TRES_PER_TASK", "gpus"},
	{"SKYPILOT_NUM_GPUS_PER_NODE", "gpus"},
	{"SM_NUM_GPUS", "gpus"},
	{"SLURM_CPUS_PER_TASK", "cpus"},
	{"SLURM_MEM_PER_NODE", "memory_mib"},
};

void findings_add(struct findings *out, const struct finding *finding) {
	out->at = arena_more(out->arena, out->at, out->n, &out->cap, sizeof(*out->at));
	out->at[out->n++] = *finding;
}

/** Arguments of the checks. */
struct checking {
	const struct facts *facts;
	struct findings *out;
};

/** The value of the fact @name, a device or a limit; NULL: there is no such fact. */
static const char *fact_text(const struct checking *c, const char *name) {
	const char *value = facts_find(&c->facts->list[FACTS_DEVICES], name);
	return value ? value : facts_find(&c->facts->list[FACTS_LIMITS], name);
}

/** The same value as a number. UINT64_MAX: not known, or unlimited. */
static uint64_t fact(const struct checking *c, const char *name) {
	const char *value = fact_text(c, name);
	uint64_t number = UINT64_MAX;
	// 1.5 CPUs are not two.
	num_read((struct str){value, value ? strcspn(value, ".") : 0}, UINT64_MAX - 1, &number);
	return number;
}

/**
 * If the fact @name is less than @n, add a finding. @source: the variable that promises @n, or NULL. @why: a
 * clause.
 */
static void expect(const struct checking *c, bool hint, const char *name, uint64_t n, const char *source,
		   const char *why) {
	uint64_t found = fact(c, name);
	if (found < n) {
		const char *have = fact_text(c, name);
		const char *expected = arena_format(c->out->arena, "%lu", (unsigned long)n);
		findings_add(c->out,
			     &(struct finding){
				     .about = name,
				     .text = arena_format(c->out->arena, "%s is %s, at least %s expected: %s",
							  name, have, expected, why),
				     .hint = hint,
				     .have = have,
				     .expected = expected,
				     .source = source,
			     });
	}
}

/** Whether @devices has a part of a GPU (MIG): then the manager counts parts, and /dev has whole GPUs. */
static bool has_part(const char *devices) {
	return devices && strstr(devices, "MIG");
}

/**
 * The number that @value promises: "8"; of Slurm also "a100:8", and as TRES "cpu=8,gres/gpu:a100=2". 0: none.
 */
static uint64_t promised(const char *value) {
	const char *gpus = value ? strstr(value, "gres/gpu") : NULL, *text = gpus ? gpus : value;
	size_t len = text ? strcspn(text, ",") : 0, start = len;
	uint64_t n = 0;
	while (start > 0 && text[start - 1] >= '0' && text[start - 1] <= '9') {
		start--;
	}
	bool alone = start == 0 || text[start - 1] == ':' || text[start - 1] == '=';
	if (alone && (gpus || !text || !strchr(text, '='))) {
		num_read((struct str){text + start, len - start}, UINT32_MAX, &n);
	}
	return n;
}

static void expect_promises(const struct checking *c, const struct env *env) {
	bool parts = has_part(env_value(env, "CUDA_VISIBLE_DEVICES")) ||
		     has_part(env_value(env, "NVIDIA_VISIBLE_DEVICES"));
	for (size_t i = 0; i < sizeof(promises) / sizeof(promises[0]); i++) {
		const char *variable = promises[i].variable;
		bool part = parts && strcmp(promises[i].fact, "gpus") == 0;
		expect(c, false, promises[i].fact, part ? 0 : promised(env_value(env, variable)), variable,
		       variable);
	}
}

/**
 * Add a hint if there are fewer tasks in all than per node: Lightning then waits for processes that do not
 * exist.
 */
static void hint_at_tasks(struct findings *out, const struct env *env) {
	static const char all[] = "SLURM_NTASKS", each[] = "SLURM_NTASKS_PER_NODE";
	uint32_t n, per_node;
	if (num_read_u32(str_of(env_value(env, all)), &n) < 0 ||
	    num_read_u32(str_of(env_value(env, each)), &per_node) < 0 || n >= per_node) {
		return;
	}
	findings_add(out, &(struct finding){
				  .about = "tasks",
				  .text = arena_format(
					  out->arena,
					  "%s=%u is below %s=%u: Lightning counts on %u processes here; "
					  "ask for as many tasks as nodes times tasks per node",
					  all, n, each, per_node, per_node),
				  .hint = true,
				  .have = env_value(env, all),
				  .source = each,
			  });
}

/** Add a hint if the program's user may not open the device of each GPU. */
static void hint_at_denied(const struct checking *c) {
	const uint64_t denied = fact(c, "gpus_denied");
	if (!denied || denied == UINT64_MAX) {
		return;
	}
	findings_add(c->out,
		     &(struct finding){
			     .about = "gpus_denied",
			     .text = arena_format(c->out->arena,
						  "the program's user may not open %s of %s GPUs here; "
						  "let it, or its groups, write to them",
						  fact_text(c, "gpus_denied"), fact_text(c, "gpus")),
			     .hint = true,
			     .have = fact_text(c, "gpus_denied"),
			     .expected = "0",
			     .source = "/dev",
		     });
}

/** The number of processes that will be started on this node; 1 if it is not known. */
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

/** The number of ranks; 0: not known. */
static uint64_t count_ranks(const struct cluster *c) {
	return c->task.world_size != UNKNOWN ? c->task.world_size
	       : c->nnodes != UNKNOWN	     ? (uint64_t)c->nnodes * count_processes(c)
					     : 0;
}

/** Whether RLIMIT_MEMLOCK does not limit this process. */
static bool may_lock(void) {
	return geteuid() == 0 && prctl(PR_CAPBSET_READ, CAP_IPC_LOCK) == 1;
}

void promises_check(const struct facts_from *from, const struct facts *facts, struct findings *out) {
	const struct checking c = {facts, out};
	uint32_t n = count_processes(from->cluster);
	uint64_t gpus = fact(&c, "gpus");
	expect_promises(&c, from->env);
	hint_at_tasks(out, from->env);
	expect(&c, true, "gpus", gpus ? n : 0, NULL, "nproc_per_node");
	hint_at_denied(&c);
	expect(&c, true, "cpus", n > 1 ? n : 0, NULL, "nproc_per_node");
	expect(&c, true, "shm_mib", n > 1 || gpus > 1 ? SHM_SMALL_MIB : 0, NULL,
	       "NCCL and data loaders fill /dev/shm; engines take --shm-size, or a volume in memory");
	if (fact(&c, "rdma")) {
		expect(&c, true, "rdma_verbs", 1, NULL, "/dev/infiniband is not in this container");
		expect(&c, true, "rdma_active", 1, NULL, "NCCL will use TCP");
	}
	if (fact(&c, "rdma_verbs") && !may_lock()) {
		expect(&c, true, "memlock_kib", MEMLOCK_SMALL_KIB, NULL,
		       "RDMA locks memory; ulimit -l unlimited, or the capability ipc_lock");
	}
	if (findings_is_master(from->cluster)) {
		expect(&c, false, "nofile", count_ranks(from->cluster), NULL,
		       "the master connects to each rank");
	}
}
