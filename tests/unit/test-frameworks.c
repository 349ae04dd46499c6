// SPDX-License-Identifier: Apache-2.0

/** Tests what each framework derives from a cluster, whatever manager described it. */

#include "framework/framework.h"

#include "check.h"
#include "fixture.h"
#include "flow/frameworks.h"

#include <errno.h>

static struct arena arena;

/** A cluster as a test writes it. Fields that are left out (0, NULL) have the usual value. */
struct given {
	/** Joined by commas. NULL: unknown. */
	const char *hosts;
	enum scope scope;
	/** This node; -1: unknown. */
	int node;
	/** Tasks on each node, joined by commas. NULL: unknown. */
	const char *tasks;
	enum layout layout;
	/** "SIZE RANK LOCAL_SIZE LOCAL_RANK", each a number or "?", where a launcher started us. */
	const char *task;
	/** 0: 29500. */
	uint16_t port;
	const char *addr;
	uint32_t nproc;
	enum ranks ranks;
	/** The value of --frameworks; NULL: the default. */
	const char *frameworks;
	/** The environment before. NULL: empty. */
	const char *env;
	/** Where the host file is to be. NULL: nowhere. */
	const char *hostfile;
	/** --tf-roles. */
	const char *roles;
	/** The network interface; NULL: there is none. */
	const char *interface;
};

static const struct launcher launcher = {.name = "launcher"};

/** The next word of *@rest as a number; "?" and nothing are UNKNOWN. */
static uint32_t next_number(struct str *rest, char separator) {
	struct str word;
	uint32_t number = UNKNOWN;
	if (str_cut(rest, separator, &word) && !str_is(word, "?")) {
		number = (uint32_t)strtoul(arena_text(&arena, word.p, word.len), NULL, 10);
	}
	return number;
}

static void set_hosts(struct cluster *c, const struct given *g) {
	uint32_t empty;
	struct err err;
	hosts_split(&arena, "HOSTS", g->hosts, ',', &c->place.hosts, &empty, &err);
	hosts_check(&c->place.hosts, &arena, "HOSTS", &err);
	c->nnodes = c->place.hosts.n;
	c->master_addr = hosts_at(&c->place.hosts, 0);
	if (g->tasks) {
		uint32_t *tasks = arena_array(&arena, c->nnodes, sizeof(*tasks));
		struct str rest = str_of(g->tasks);
		for (uint32_t i = 0; i < c->nnodes; i++) {
			tasks[i] = next_number(&rest, ',');
		}
		c->place.tasks_per_node = tasks;
	}
}

static struct cluster cluster_of(const struct given *g) {
	struct cluster c = {
		.scope = g->scope,
		.nnodes = UNKNOWN,
		.place = {.node_rank = g->node < 0 ? UNKNOWN : (uint32_t)g->node,
			  .nproc_per_node = g->nproc ? g->nproc : UNKNOWN,
			  .layout = g->layout},
		.master_port = g->port ? g->port : 29500,
		.master_addr_why = "why",
		.master_port_why = "why",
	};
	struct str rest = str_of(g->task);
	c.task.world_size = next_number(&rest, ' ');
	c.task.rank = next_number(&rest, ' ');
	c.task.local_size = next_number(&rest, ' ');
	c.task.local_rank = next_number(&rest, ' ');
	c.launcher = g->task ? &launcher : NULL;
	if (g->hosts) {
		set_hosts(&c, g);
	}
	if (g->addr) {
		c.master_addr = str_of(g->addr);
	}
	return c;
}

struct outcome {
	struct env env;
	struct notes notes;
	struct derivation d;
	struct cluster cluster;
	/** The error message, or "". */
	struct err err;
};

static struct outcome *run(const struct given *g) {
	struct outcome *out = arena_alloc(&arena, sizeof(*out));
	*out = (struct outcome){.notes = {.arena = &arena}, .cluster = cluster_of(g)};
	fixture_env(&out->env, &arena, g->env ? g->env : "", '|');
	out->d = (struct derivation){
		.cluster = &out->cluster, .env = &out->env, .notes = &out->notes, .ranks = g->ranks};
	out->d.hostfile.path = g->hostfile;
	out->d.interface = (struct interface){g->interface, "why"};
	uint32_t set = frameworks_standard();
	if (g->frameworks && frameworks_parse("--frameworks", g->frameworks, &set, &out->err) < 0) {
		check_text(out->err.text, "", "a test's own list of frameworks");
	}
	if (g->roles && tf_roles_read("--tf-roles", g->roles, &out->d.tf_roles, &out->err) < 0) {
		return out;
	}
	int r = frameworks_derive(set, &out->d, &out->err);
	checkf((r < 0) == (out->err.text[0] != '\0'), "a refusal says why, and nothing else does");
	return out;
}

/** The variables that came or changed, as NAME=VALUE with '|' between. */
static const char *added(const struct outcome *out) {
	struct buf buf = BUF(&arena);
	for (uint32_t i = 0; i < out->env.n; i++) {
		if (env_entry_changed(&out->env, &out->env.entries[i])) {
			buf_putf(&buf, "%s%s", buf.len ? "|" : "", out->env.entries[i].text);
		}
	}
	return buf_text(&buf);
}

/** The remarks: "-NAME" for what is left out, "=NAME" for what was kept. */
static const char *remarks(const struct outcome *out) {
	struct buf buf = BUF(&arena);
	for (const struct remark *r = out->d.remarks; r; r = r->next) {
		buf_putf(&buf, "%s%c%s", buf.len ? " " : "", r->kept ? '=' : '-', r->name);
	}
	return buf_text(&buf);
}

static void check_case(const char *name, struct given given, const char *want, const char *want_remarks) {
	struct outcome *out = run(&given);
	check_text(added(out), want, "%s", name);
	check_text(remarks(out), want_remarks, "%s: what is kept or left out", name);
	check_text(fixture_notes(&out->notes), "", "%s: nothing to note", name);
}

#define CASE(name, want, want_remarks, ...) check_case(name, (struct given){__VA_ARGS__}, want, want_remarks)

#define NO_RANKS "-RANK -WORLD_SIZE -LOCAL_RANK -LOCAL_WORLD_SIZE"
#define NO_PET	 "-PET_NNODES -PET_NODE_RANK -PET_MASTER_ADDR -PET_MASTER_PORT -PET_NPROC_PER_NODE"
#define MASTER_A "MASTER_ADDR=a|MASTER_PORT=29500"
#define RANKS(rank, size, local, local_size) \
	"RANK=" #rank "|WORLD_SIZE=" #size "|LOCAL_RANK=" #local "|LOCAL_WORLD_SIZE=" #local_size
#define PET(nnodes, rank) \
	"PET_NNODES=" #nnodes "|PET_NODE_RANK=" #rank "|PET_MASTER_ADDR=a|PET_MASTER_PORT=29500"
#define TF(workers, index) \
	"TF_CONFIG={\"cluster\":{\"worker\":[" workers "]},\"task\":{\"type\":\"worker\",\"index\":" #index \
	"}}"

static void check_torch(void) {
	CASE("torch: a node", MASTER_A, NO_RANKS, .frameworks = "torch", .hosts = "a,b", .node = 1);
	CASE("torch: a node, ranks wanted", MASTER_A "|" RANKS(1, 2, 0, 1), "", .frameworks = "torch",
	     .hosts = "a,b", .node = 1, .ranks = RANKS_ALWAYS);
	CASE("torch: a node that is not told, ranks wanted",
	     MASTER_A "|WORLD_SIZE=2|LOCAL_RANK=0|LOCAL_WORLD_SIZE=1", "-RANK", .frameworks = "torch",
	     .hosts = "a,b", .node = -1, .ranks = RANKS_ALWAYS);
	CASE("torch: a task", MASTER_A "|" RANKS(3, 4, 1, 2), "", .frameworks = "torch", .hosts = "a,b",
	     .scope = SCOPE_TASK, .node = 1, .task = "4 3 2 1");
	CASE("torch: a task, ranks not wanted", MASTER_A, NO_RANKS, .frameworks = "torch", .hosts = "a,b",
	     .scope = SCOPE_TASK, .node = 1, .task = "4 3 2 1", .ranks = RANKS_NEVER);
	CASE("torch: a task without local numbers", MASTER_A "|RANK=3|WORLD_SIZE=4",
	     "-LOCAL_RANK -LOCAL_WORLD_SIZE", .frameworks = "torch", .hosts = "a,b", .scope = SCOPE_TASK,
	     .task = "4 3 ? ?");
	CASE("torch: an allocation", MASTER_A, NO_RANKS, .frameworks = "torch", .hosts = "a,b",
	     .scope = SCOPE_ALLOCATION, .ranks = RANKS_ALWAYS);
	CASE("torch: no hosts", "MASTER_PORT=29500|" RANKS(0, 2, 0, 1), "-MASTER_ADDR", .frameworks = "torch",
	     .scope = SCOPE_TASK, .node = -1, .task = "2 0 1 0");
	CASE("torch: no hosts, but an address is set", "MASTER_PORT=29500", "=MASTER_ADDR " NO_RANKS,
	     .frameworks = "torch", .node = -1, .env = "MASTER_ADDR=x", .scope = SCOPE_TASK,
	     .task = "2 0 1 0", .ranks = RANKS_NEVER);
	CASE("torch: IPv6 stands bare", "MASTER_ADDR=::1|MASTER_PORT=29500", NO_RANKS, .frameworks = "torch",
	     .hosts = "[::1],[::2]");
	CASE("torch: what is set is kept", "MASTER_ADDR=a|WORLD_SIZE=4|LOCAL_WORLD_SIZE=2",
	     "=MASTER_PORT =RANK =LOCAL_RANK", .frameworks = "torch", .hosts = "a,b", .scope = SCOPE_TASK,
	     .task = "4 3 2 1", .env = "MASTER_PORT=1|RANK=3|LOCAL_RANK=01|MASTER_ADDR=|WORLD_SIZE=");
	CASE("torch: the address that was told", "MASTER_ADDR=x|MASTER_PORT=1234", NO_RANKS,
	     .frameworks = "torch", .hosts = "a,b", .addr = "x", .port = 1234);
}

static void check_torchrun(void) {
	CASE("torchrun: a node", PET(2, 1), "", .frameworks = "torchrun", .hosts = "a,b", .node = 1);
	CASE("torchrun: as many as the manager tells", PET(2, 0) "|PET_NPROC_PER_NODE=8", "",
	     .frameworks = "torchrun", .hosts = "a,b", .nproc = 8);
	CASE("torchrun: a node that is not told", "", NO_PET, .frameworks = "torchrun", .hosts = "a,b",
	     .node = -1);
	CASE("torchrun: one task per node", PET(2, 1), "", .frameworks = "torchrun", .hosts = "a,b",
	     .scope = SCOPE_TASK, .node = 1, .task = "2 1 1 0", .tasks = "1,1");
	CASE("torchrun: two tasks per node", "", NO_PET, .frameworks = "torchrun", .hosts = "a,b",
	     .scope = SCOPE_TASK, .node = 1, .task = "4 3 2 1", .tasks = "2,2");
	CASE("torchrun: as many tasks as nodes, but on one", "", NO_PET, .frameworks = "torchrun",
	     .hosts = "a,b", .scope = SCOPE_TASK, .task = "2 1 2 1");
	CASE("torchrun: as many tasks as nodes, unevenly", "", NO_PET, .frameworks = "torchrun",
	     .hosts = "a,b,c", .scope = SCOPE_TASK, .task = "3 2 1 0", .tasks = "2,0,1");
	CASE("torchrun: fewer tasks than nodes", "", NO_PET, .frameworks = "torchrun", .hosts = "a,b,c",
	     .scope = SCOPE_TASK, .task = "2 1 1 0");
	CASE("torchrun: no hosts", "", NO_PET, .frameworks = "torchrun", .scope = SCOPE_TASK,
	     .task = "2 0 1 0");
	CASE("torchrun: a node of several tasks", "", NO_PET, .frameworks = "torchrun", .hosts = "a,b",
	     .tasks = "2,2");
	CASE("torchrun: an allocation", "", NO_PET, .frameworks = "torchrun", .hosts = "a,b",
	     .scope = SCOPE_ALLOCATION, .tasks = "2,2");
	CASE("torchrun: IPv6 in brackets",
	     "PET_NNODES=2|PET_NODE_RANK=0|PET_MASTER_ADDR=[::1]|PET_MASTER_PORT=29500", "",
	     .frameworks = "torchrun", .hosts = "::1,::2");
	CASE("torchrun: brackets that are there already",
	     "PET_NNODES=2|PET_NODE_RANK=0|PET_MASTER_ADDR=[::1]|PET_MASTER_PORT=29500", "",
	     .frameworks = "torchrun", .hosts = "a,b", .addr = "[::1]");
	CASE("torchrun: what is set is kept", "PET_NODE_RANK=1|PET_MASTER_ADDR=a",
	     "=PET_NNODES =PET_MASTER_PORT", .frameworks = "torchrun", .hosts = "a,b", .node = 1,
	     .env = "PET_NNODES=2|PET_MASTER_PORT=1|PET_NODE_RANK=");

	// The user steers.
	static const char *const steering[] = {"PET_RDZV_BACKEND=c10d", "PET_RDZV_ENDPOINT=a",
					       "PET_RDZV_ID=1",		"PET_RDZV_CONF=a=b",
					       "PET_STANDALONE=1",	"PET_NNODES=1:4"};
	for (size_t i = 0; i < sizeof(steering) / sizeof(steering[0]); i++) {
		CASE(steering[i], "", NO_PET, .frameworks = "torchrun", .hosts = "a,b", .env = steering[i]);
	}
	CASE("torchrun: an empty one does not steer", PET(2, 0), "", .frameworks = "torchrun", .hosts = "a,b",
	     .env = "PET_RDZV_BACKEND=");
}

static void check_tensorflow(void) {
	CASE("tensorflow: a node", TF("\"a:29500\",\"b:29501\"", 1), "", .frameworks = "tensorflow",
	     .hosts = "a,b", .node = 1);
	CASE("tensorflow: tasks in blocks", TF("\"a:29500\",\"a:29501\",\"b:29502\"", 2), "",
	     .frameworks = "tensorflow", .hosts = "a,b", .scope = SCOPE_TASK, .tasks = "2,1",
	     .layout = LAYOUT_BLOCK, .task = "3 2 1 0");
	CASE("tensorflow: tasks dealt in turn",
	     TF("\"a:29500\",\"b:29501\",\"c:29502\",\"a:29503\",\"c:29504\",\"c:29505\"", 4), "",
	     .frameworks = "tensorflow", .hosts = "a,b,c", .scope = SCOPE_TASK, .tasks = "2,1,3",
	     .layout = LAYOUT_CYCLIC, .task = "6 4 3 1");
	CASE("tensorflow: a node without a task", TF("\"a:29500\",\"c:29501\"", 1), "",
	     .frameworks = "tensorflow", .hosts = "a,b,c", .scope = SCOPE_TASK, .tasks = "1,0,1",
	     .layout = LAYOUT_CYCLIC, .task = "2 1 1 0");
	CASE("tensorflow: IPv6 in brackets", TF("\"[::1]:29500\",\"b:29501\",\"[fe80::1%eth0]:29502\"", 0),
	     "", .frameworks = "tensorflow", .hosts = "[::1],b,fe80::1%eth0");
	CASE("tensorflow: one node per task", TF("\"a:29500\",\"b:29501\"", 0), "",
	     .frameworks = "tensorflow", .hosts = "a,b", .tasks = "1,1");
	CASE("tensorflow: an allocation", "", "-TF_CONFIG", .frameworks = "tensorflow", .hosts = "a,b",
	     .scope = SCOPE_ALLOCATION);
	CASE("tensorflow: no hosts", "", "-TF_CONFIG", .frameworks = "tensorflow", .scope = SCOPE_TASK,
	     .task = "2 0 1 0");
	CASE("tensorflow: tasks nobody counts", "", "-TF_CONFIG", .frameworks = "tensorflow", .hosts = "a,b",
	     .scope = SCOPE_TASK, .task = "2 0 1 0", .layout = LAYOUT_BLOCK);
	CASE("tensorflow: tasks in unknown order", "", "-TF_CONFIG", .frameworks = "tensorflow",
	     .hosts = "a,b", .scope = SCOPE_TASK, .task = "2 0 1 0", .tasks = "1,1");
	CASE("tensorflow: a node that is not told", "", "-TF_CONFIG", .frameworks = "tensorflow",
	     .hosts = "a,b", .node = -1);
	CASE("tensorflow: a node of several tasks", "", "-TF_CONFIG", .frameworks = "tensorflow",
	     .hosts = "a,b", .tasks = "1,2");
	CASE("tensorflow: what is set is kept", "", "=TF_CONFIG", .frameworks = "tensorflow", .hosts = "a,b",
	     .env = "TF_CONFIG={}");
	CASE("tensorflow: an empty one is replaced", TF("\"a:29500\",\"b:29501\"", 0), "",
	     .frameworks = "tensorflow", .hosts = "a,b", .env = "TF_CONFIG=");
}

#define JAX(size, rank) "JAX_COORDINATOR_ADDRESS=a:29500|JAX_NUM_PROCESSES=" #size "|JAX_PROCESS_ID=" #rank

static void check_jax(void) {
	CASE("jax: a node", JAX(2, 1), "", .frameworks = "jax", .hosts = "a,b", .node = 1);
	CASE("jax: a task", JAX(4, 3), "", .frameworks = "jax", .hosts = "a,b", .scope = SCOPE_TASK,
	     .node = 1, .task = "4 3 2 1", .ranks = RANKS_NEVER);
	CASE("jax: an allocation", "JAX_COORDINATOR_ADDRESS=a:29500", "-JAX_NUM_PROCESSES -JAX_PROCESS_ID",
	     .frameworks = "jax", .hosts = "a,b", .scope = SCOPE_ALLOCATION);
	CASE("jax: tasks without hosts", "JAX_NUM_PROCESSES=4|JAX_PROCESS_ID=3", "-JAX_COORDINATOR_ADDRESS",
	     .frameworks = "jax", .scope = SCOPE_TASK, .node = -1, .task = "4 3 ? ?");
	CASE("jax: a node that is not told", "JAX_COORDINATOR_ADDRESS=a:29500",
	     "-JAX_NUM_PROCESSES -JAX_PROCESS_ID", .frameworks = "jax", .hosts = "a,b", .node = -1);
	CASE("jax: a node of several tasks", "JAX_COORDINATOR_ADDRESS=a:29500",
	     "-JAX_NUM_PROCESSES -JAX_PROCESS_ID", .frameworks = "jax", .hosts = "a,b", .tasks = "2,2");
	CASE("jax: IPv6 in brackets",
	     "JAX_COORDINATOR_ADDRESS=[::1]:29500|JAX_NUM_PROCESSES=2|JAX_PROCESS_ID=0", "",
	     .frameworks = "jax", .hosts = "::1,::2");
	CASE("jax: what is set is kept", "JAX_NUM_PROCESSES=2", "=JAX_COORDINATOR_ADDRESS =JAX_PROCESS_ID",
	     .frameworks = "jax", .hosts = "a,b", .env = "JAX_COORDINATOR_ADDRESS=x:1|JAX_PROCESS_ID=7");
	CASE("jax: a cluster of one", "", "", .frameworks = "jax", .hosts = "a");
}

#define DMLC(size, rank) \
	"DMLC_TRACKER_URI=a|DMLC_TRACKER_PORT=29500|DMLC_NUM_WORKER=" #size "|DMLC_TASK_ID=" #rank

static void check_xgboost(void) {
	CASE("xgboost: a node", DMLC(2, 1), "", .frameworks = "xgboost", .hosts = "a,b", .node = 1);
	CASE("xgboost: a task", DMLC(4, 3), "", .frameworks = "xgboost", .hosts = "a,b", .scope = SCOPE_TASK,
	     .node = 1, .task = "4 3 2 1");
	CASE("xgboost: an allocation", "DMLC_TRACKER_URI=a|DMLC_TRACKER_PORT=29500",
	     "-DMLC_NUM_WORKER -DMLC_TASK_ID", .frameworks = "xgboost", .hosts = "a,b",
	     .scope = SCOPE_ALLOCATION);
	CASE("xgboost: tasks without hosts", "DMLC_TRACKER_PORT=29500|DMLC_NUM_WORKER=4|DMLC_TASK_ID=3",
	     "-DMLC_TRACKER_URI", .frameworks = "xgboost", .scope = SCOPE_TASK, .node = -1,
	     .task = "4 3 ? ?");
	CASE("xgboost: IPv6 stands bare",
	     "DMLC_TRACKER_URI=::1|DMLC_TRACKER_PORT=29500|DMLC_NUM_WORKER=2|DMLC_TASK_ID=0", "",
	     .frameworks = "xgboost", .hosts = "::1,::2");
	CASE("xgboost: what is set is kept", "DMLC_TASK_ID=0|DMLC_TRACKER_URI=a",
	     "=DMLC_TRACKER_PORT =DMLC_NUM_WORKER", .frameworks = "xgboost", .hosts = "a,b",
	     .env = "DMLC_TRACKER_PORT=9091|DMLC_NUM_WORKER=7|DMLC_TASK_ID=");
}

#define PADDLE(nnodes, rank) "PADDLE_MASTER=a:29500|PADDLE_NNODES=" #nnodes "|PADDLE_RANK=" #rank
#define NO_PADDLE	     "-PADDLE_MASTER -PADDLE_NNODES -PADDLE_RANK -PADDLE_NPROC_PER_NODE"

static void check_paddle(void) {
	CASE("paddle: a node", PADDLE(2, 1), "", .frameworks = "paddle", .hosts = "a,b", .node = 1);
	CASE("paddle: as many as the manager tells", PADDLE(2, 0) "|PADDLE_NPROC_PER_NODE=8", "",
	     .frameworks = "paddle", .hosts = "a,b", .nproc = 8);
	CASE("paddle: one task per node", PADDLE(2, 1), "", .frameworks = "paddle", .hosts = "a,b",
	     .scope = SCOPE_TASK, .node = 1, .task = "2 1 1 0", .tasks = "1,1");
	CASE("paddle: several tasks per node", "", NO_PADDLE, .frameworks = "paddle", .hosts = "a,b",
	     .scope = SCOPE_TASK, .node = 1, .task = "4 3 2 1", .tasks = "2,2");
	CASE("paddle: an allocation", "", NO_PADDLE, .frameworks = "paddle", .hosts = "a,b",
	     .scope = SCOPE_ALLOCATION);
	CASE("paddle: no hosts", "", NO_PADDLE, .frameworks = "paddle", .scope = SCOPE_TASK, .node = -1,
	     .task = "2 0 1 0");
	CASE("paddle: what is set is kept", "PADDLE_MASTER=a:29500|PADDLE_RANK=0", "=PADDLE_NNODES",
	     .frameworks = "paddle", .hosts = "a,b", .env = "PADDLE_NNODES=2:4");
}

/** What is in the host file, with '|' for line breaks; NULL: there is none. */
static const char *hostfile_of(const struct outcome *out) {
	struct buf buf = BUF(&arena);
	struct str text = out->d.hostfile.text;
	for (size_t i = 0; i < text.len; i++) {
		buf_putc(&buf, text.p[i] == '\n' ? '|' : text.p[i]);
	}
	return text.p ? buf_text(&buf) : NULL;
}

static void check_file(const char *name, struct given given, const char *want, const char *want_added,
		       const char *want_notes) {
	given.hostfile = "/h";
	struct outcome *out = run(&given);
	check_text(hostfile_of(out), want, "host file: %s", name);
	check_text(added(out), want_added, "host file: %s: variables", name);
	check_text(fixture_notes(&out->notes), want_notes, "host file: %s: notes", name);
}

#define FILE_CASE(name, want, want_added, want_notes, ...) \
	check_file(name, (struct given){__VA_ARGS__}, want, want_added, want_notes)
#define OMPI  "OMPI_MCA_orte_default_hostfile=/h|PRTE_MCA_prte_default_hostfile=/h"
#define HYDRA "HYDRA_HOST_FILE=/h|I_MPI_HYDRA_HOST_FILE=/h"

static void check_hostfiles(void) {
	FILE_CASE("a node, nobody counts", "a|b|", OMPI, "", .frameworks = "mpi", .hosts = "a,b", .node = 1);
	FILE_CASE("the manager counts", "a slots=8|b slots=8|", OMPI, "", .frameworks = "mpi", .hosts = "a,b",
		  .nproc = 8, .env = "PET_NPROC_PER_NODE=2");
	FILE_CASE("the user counts", "a slots=2|b slots=2|", OMPI, "", .frameworks = "mpi", .hosts = "a,b",
		  .env = "PET_NPROC_PER_NODE=2");
	FILE_CASE("torchrun's own words count nothing", "a|b|", OMPI, "", .frameworks = "mpi", .hosts = "a,b",
		  .env = "PET_NPROC_PER_NODE=gpu");
	FILE_CASE("an allocation", "a slots=2|c slots=1|", OMPI, "", .frameworks = "mpi", .hosts = "a,b,c",
		  .tasks = "2,0,1", .scope = SCOPE_ALLOCATION, .node = -1);
	FILE_CASE("Hydra's form", "a:2|b:1|", HYDRA, "", .frameworks = "mpich", .hosts = "a,b",
		  .tasks = "2,1", .scope = SCOPE_ALLOCATION);
	FILE_CASE("one task per node", "a slots=4|b slots=4|", OMPI, "", .frameworks = "mpi", .hosts = "a,b",
		  .scope = SCOPE_TASK, .task = "2 0 1 0", .tasks = "1,1", .env = "PET_NPROC_PER_NODE=4");
	FILE_CASE("a rank of several on its node", NULL, "",
		  "no host file for mpi: the launcher starts the ranks itself: this needs one task per node",
		  .frameworks = "mpi", .hosts = "a,b", .scope = SCOPE_TASK, .task = "4 0 2 0",
		  .tasks = "2,2");
	FILE_CASE("a node of several tasks", NULL, "",
		  "no host file for mpi: a node has several tasks: this needs one per node",
		  .frameworks = "mpi", .hosts = "a,b", .tasks = "2,2");
	FILE_CASE("no hosts", NULL, "", "no host file for mpi: the hosts are not known: pass --hosts",
		  .frameworks = "mpi", .scope = SCOPE_TASK, .node = -1, .task = "2 0 1 0");
	FILE_CASE("DeepSpeed and Horovod set nothing", "a slots=2|b slots=2|", "", "",
		  .frameworks = "deepspeed,horovod", .hosts = "a,b", .nproc = 2);
	FILE_CASE("DeepSpeed wants each host counted", NULL, "",
		  "no host file for deepspeed: the number of ranks per node is not known: set "
		  "PET_NPROC_PER_NODE=N",
		  .frameworks = "deepspeed", .hosts = "a,b");
	FILE_CASE("one file, two forms", "a slots=2|b slots=2|", OMPI,
		  "no host file for mpich: another framework needs the host file in a different form: "
		  "name one of them in --frameworks",
		  .frameworks = "mpich,mpi", .hosts = "a,b", .nproc = 2);
	FILE_CASE("IPv6", "::1 slots=2|::2 slots=2|", OMPI, "", .frameworks = "mpi", .hosts = "::1,::2",
		  .nproc = 2);
	FILE_CASE("IPv6 is not for Hydra", NULL, "",
		  "no host file for mpich: a host is an IPv6 address, which this form of a host file cannot "
		  "hold: give the hosts by name",
		  .frameworks = "mpich", .hosts = "::1,::2");
	FILE_CASE("a cluster of one", NULL, "", "", .frameworks = "mpi", .hosts = "a");
	FILE_CASE("a path that is set is kept, and the file is made", "a|b|",
		  "PRTE_MCA_prte_default_hostfile=/h", "", .frameworks = "mpi", .hosts = "a,b",
		  .env = "OMPI_MCA_orte_default_hostfile=/x");
	CASE("host file: nowhere", "", "-OMPI_MCA_orte_default_hostfile -PRTE_MCA_prte_default_hostfile",
	     .frameworks = "mpi,deepspeed", .hosts = "a,b", .nproc = 2);
}

static void check_interfaces(void) {
	CASE("interface: both", "NCCL_SOCKET_IFNAME==eth0|GLOO_SOCKET_IFNAME=eth0", "",
	     .frameworks = "gloo,nccl", .hosts = "a,b", .interface = "eth0");
	CASE("interface: what is set is kept", "GLOO_SOCKET_IFNAME=eth0", "=NCCL_SOCKET_IFNAME",
	     .frameworks = "gloo,nccl", .hosts = "a,b", .interface = "eth0", .env = "NCCL_SOCKET_IFNAME=^lo");
	struct given g = {.frameworks = "gloo", .hosts = "a,b"};
	struct outcome *out = run(&g);
	check_text(added(out), "", "interface: none");
	check_text(fixture_notes(&out->notes), "GLOO_SOCKET_IFNAME is left out: why",
		   "interface: none is said");

	fixture_env(&out->env, &arena, "GLOO_SOCKET_IFNAME=x|NCCL_SOCKET_IFNAME=", '|');
	const uint32_t all = UINT32_MAX, standard = frameworks_standard();
	check(frameworks_want_interface(all, &out->env));
	check(!frameworks_want_interface(standard, &out->env));
	uint32_t gloo = 0;
	check(frameworks_parse("F", "gloo", &gloo, &out->err) == 0);
	check(!frameworks_want_interface(gloo, &out->env));
	check(frameworks_want_hostfile(all) && !frameworks_want_hostfile(standard | gloo));
}

#define TF_ROLES(cluster, type, index) \
	"TF_CONFIG={\"cluster\":{" cluster "},\"task\":{\"type\":\"" type "\",\"index\":" #index "}}"
#define ROLES(want, ...) CASE("roles: " want, want, "", .frameworks = "tensorflow", __VA_ARGS__)

static void check_roles(void) {
	ROLES(TF_ROLES("\"chief\":[\"a:29500\"],\"worker\":[\"b:29501\",\"c:29502\"]", "chief", 0),
	      .hosts = "a,b,c", .roles = "chief:1");
	ROLES(TF_ROLES("\"chief\":[\"a:29500\"],\"worker\":[\"b:29501\",\"c:29502\"]", "worker", 1),
	      .hosts = "a,b,c", .roles = "chief:1", .node = 2);
	ROLES(TF_ROLES("\"ps\":[\"a:29500\",\"b:29501\"],\"chief\":[\"c:29502\"],\"worker\":[\"d:29503\"]",
		       "ps", 1),
	      .hosts = "a,b,c,d", .roles = "ps:2,chief:1", .node = 1);
	ROLES(TF_ROLES("\"chief\":[\"a:29500\"],\"ps\":[\"b:29501\"]", "ps", 0), .hosts = "a,b",
	      .roles = "chief:1,ps:1", .node = 1);
	ROLES(TF_ROLES("\"chief\":[\"a:29500\"],\"worker\":[\"b:29501\"],\"ps\":[\"[::1]:29502\"]", "ps", 0),
	      .hosts = "a,b,::1", .roles = "chief:1,worker:1,ps:1", .node = 2);
	// The evaluator is in no list, but has a number, so that the ports of the others do not
	// change with it.
	ROLES(TF_ROLES("\"chief\":[\"a:29500\"],\"worker\":[\"c:29502\"]", "evaluator", 0), .hosts = "a,b,c",
	      .roles = "chief:1,evaluator:1", .node = 1);
	ROLES(TF_ROLES("\"worker\":[\"b:29501\"]", "worker", 0), .hosts = "a,b", .roles = "evaluator:1",
	      .node = 1);
	ROLES(TF_ROLES("\"ps\":[\"a:29500\"],\"worker\":[\"b:29501\",\"a:29502\",\"b:29503\"]", "worker", 2),
	      .hosts = "a,b", .roles = "ps:1", .scope = SCOPE_TASK, .tasks = "2,2", .layout = LAYOUT_CYCLIC,
	      .node = 1, .task = "4 3 2 1");
	ROLES(TF_ROLES("\"ps\":[\"a:29500\"],\"worker\":[\"a:29501\",\"c:29502\"]", "ps", 0),
	      .hosts = "a,b,c", .roles = "ps:1", .scope = SCOPE_TASK, .tasks = "2,0,1",
	      .layout = LAYOUT_BLOCK, .task = "3 0 2 0");
	ROLES(TF_ROLES("\"chief\":[\"a:29500\"],\"ps\":[\"b:29501\"]", "ps", 0), .hosts = "a,b",
	      .roles = "chief:1,ps:1", .node = 1);
	ROLES(TF_ROLES("\"ps\":[\"a:29500\"],\"worker\":[\"b:29501\"]", "worker", 0), .hosts = "a,b",
	      .roles = "ps:1", .node = 1);
	// Where there is no TF_CONFIG to make, they need not fit.
	CASE("roles: what is set is kept", "", "=TF_CONFIG", .frameworks = "tensorflow", .hosts = "a,b",
	     .roles = "ps:7", .env = "TF_CONFIG={}");
	CASE("roles: an allocation", "", "-TF_CONFIG", .frameworks = "tensorflow", .hosts = "a,b",
	     .scope = SCOPE_ALLOCATION, .roles = "ps:7");
	CASE("roles: not TensorFlow's turn", JAX(2, 0), "", .frameworks = "jax", .hosts = "a,b",
	     .roles = "ps:7");
}

static void check_roles_wrong(const char *roles, const char *want) {
	struct given g = {.frameworks = "tensorflow", .hosts = "a,b,c", .roles = roles};
	struct outcome *out = run(&g);
	check_text(out->err.text, want, "roles '%s' are refused", roles);
	check_text(added(out), "", "roles '%s': nothing is derived", roles);
}

static void check_roles_refused(void) {
	check_roles_wrong("chef:1", "--tf-roles='chef:1': there is no role 'chef'; did you mean 'chief'? "
				    "(the roles are chief, ps, worker and evaluator)");
	check_roles_wrong(
		"", "--tf-roles='': there is no role '' (the roles are chief, ps, worker and evaluator)");
	static const char *const uncounted[] = {"ps",	 "ps:",	  "ps:0",	  "ps:x",
						"ps:-1", "ps: 1", "ps:4294967296"};
	for (size_t i = 0; i < sizeof(uncounted) / sizeof(uncounted[0]); i++) {
		check_roles_wrong(
			uncounted[i],
			arena_format(
				&arena,
				"--tf-roles='%s': '%s': a role needs ':' and its number of tasks, as in ps:2",
				uncounted[i], uncounted[i]));
	}
	check_roles_wrong("ps:1,ps:1", "--tf-roles='ps:1,ps:1': 'ps:1': this role is given twice");
	check_roles_wrong("chief:2", "--tf-roles='chief:2': 'chief:2': TensorFlow allows at most one");
	check_roles_wrong("evaluator:2",
			  "--tf-roles='evaluator:2': 'evaluator:2': TensorFlow allows at most one");
	check_roles_wrong("ps:3,chief:1",
			  "--tf-roles='ps:3,chief:1': these are 4 tasks, but the cluster has 3");
	check_roles_wrong("ps:4294967294,worker:4294967294",
			  "--tf-roles='ps:4294967294,worker:4294967294': these are 8589934588 tasks, but the "
			  "cluster has 3");
	check_roles_wrong(
		"chief:1,worker:1",
		"--tf-roles='chief:1,worker:1': these are 2 tasks, but the cluster has 3; without worker:N "
		"the rest are workers");
	check_roles_wrong("ps:4", "--tf-roles='ps:4': these are 4 tasks, but the cluster has 3");
	check_roles_wrong("pss:1", "--tf-roles='pss:1': there is no role 'pss'; did you mean 'ps'? (the "
				   "roles are chief, ps, worker and evaluator)");
}

static void check_together(void) {
	CASE("all: a node", MASTER_A "|" PET(2, 0) "|" TF("\"a:29500\",\"b:29501\"", 0), NO_RANKS,
	     .hosts = "a,b");
	CASE("none", "", "", .hosts = "a,b", .frameworks = "none");
	CASE("one node is no cluster", "", "", .hosts = "a");
	CASE("one node of one task is no cluster", "", "", .hosts = "a", .scope = SCOPE_TASK,
	     .task = "1 0 1 0", .tasks = "1", .layout = LAYOUT_BLOCK);
	CASE("one node of two tasks is one",
	     MASTER_A "|" RANKS(1, 2, 1, 2) "|" TF("\"a:29500\",\"a:29501\"", 1), NO_PET, .hosts = "a",
	     .scope = SCOPE_TASK, .task = "2 1 2 1", .tasks = "2", .layout = LAYOUT_BLOCK);
	CASE("one node of two tasks, of which this is none", MASTER_A, NO_RANKS " " NO_PET " -TF_CONFIG",
	     .hosts = "a", .tasks = "2");
}

/** The expected list of workers, built in the simplest way. */
static const char *plain_config(const struct given *g, const struct cluster *c) {
	struct buf buf = BUF(&arena);
	uint32_t n = 0;
	buf_puts(&buf, "TF_CONFIG={\"cluster\":{\"worker\":[");
	uint32_t total = g->scope == SCOPE_TASK ? c->task.world_size : c->nnodes;
	for (uint32_t round = 0; n < total; round++) {
		for (uint32_t i = 0; i < c->nnodes; i++) {
			struct str host = hosts_at(&c->place.hosts, i);
			uint32_t tasks = g->scope == SCOPE_TASK ? c->place.tasks_per_node[i] : 1;
			uint32_t here = g->layout == LAYOUT_CYCLIC ? tasks > round : tasks;
			bool ipv6 = str_find(host, ':') < host.len;
			for (uint32_t k = 0; k < here; k++, n++) {
				buf_putf(&buf, "%s\"%s%.*s%s:%u\"", n ? "," : "", ipv6 ? "[" : "",
					 (int)host.len, host.p, ipv6 ? "]" : "", c->master_port + n);
			}
		}
	}
	buf_putf(&buf, "]},\"task\":{\"type\":\"worker\",\"index\":%u}}",
		 g->scope == SCOPE_TASK ? c->task.rank : c->place.node_rank);
	return buf_text(&buf);
}

/** @n hosts, of lengths up to @longest, the kinds mixed, no two alike. */
static const char *many_hosts(uint64_t *random, uint32_t n, uint32_t longest, bool ipv6) {
	struct buf buf = BUF(&arena);
	for (uint32_t i = 0; i < n; i++) {
		buf_puts(&buf, i ? "," : "");
		if (ipv6 && fixture_random(random, 3) == 0) {
			buf_putf(&buf, "fd00::%x", i);
			continue;
		}
		buf_putf(&buf, "%u", i);
		for (uint32_t k = fixture_random(random, longest); k; k--) {
			buf_putc(&buf, (char)('a' + k % 26));
		}
	}
	return buf_text(&buf);
}

/**
 * Ports that gain a digit on the way, hosts of all lengths, tasks in both orders: the result equals
 * the simple way's.
 */
static void check_against_plain(void) {
	static const uint16_t ports[] = {1, 8, 95, 990, 9985, 29500, 60000, 65500};
	static const uint32_t lengths[] = {1, 4, 12, 20, 40, 200};
	uint64_t random = 5;
	unsigned wrong = 0, compared = 0;
	for (unsigned i = 0; i < 1500; i++) {
		struct given g = {.frameworks = "tensorflow", .port = ports[i % 8]};
		uint32_t n = 2 + fixture_random(&random, 16), total = 0;
		g.hosts = many_hosts(&random, n, lengths[fixture_random(&random, 6)], i % 5 == 0);
		if (i % 3) {
			struct buf tasks = BUF(&arena);
			for (uint32_t k = 0; k < n; k++) {
				// Two at least: a single task is a cluster of one.
				uint32_t count = fixture_random(&random, 3) + (k ? 0 : 2);
				buf_putf(&tasks, "%s%u", k ? "," : "", count);
				total += count;
			}
			g.tasks = buf_text(&tasks);
			g.task = arena_format(&arena, "%u %u ? ?", total, fixture_random(&random, total));
			g.scope = SCOPE_TASK;
			g.layout = i % 3 == 1 ? LAYOUT_BLOCK : LAYOUT_CYCLIC;
		} else {
			g.node = (int)fixture_random(&random, n);
		}
		if ((g.task ? total : n) - 1 <= 65535u - g.port) {
			struct outcome *out = run(&g);
			const char *want = plain_config(&g, &out->cluster);
			compared++;
			if (strcmp(added(out), want) != 0) {
				wrong++;
				printf("# got  %s\n# want %s\n", added(out), want);
			}
		}
	}
	checkf(wrong == 0 && compared > 1000, "%u clusters have the TF_CONFIG of the plain way (%u do not)",
	       compared, wrong);
}

/**
 * The variable that Kubernetes sets for a service called "master" is replaced, and this is
 * reported.
 */
static void check_service_link(void) {
	struct given g = {.frameworks = "torch", .hosts = "a,b", .env = "MASTER_PORT=tcp://10.0.0.1:80"};
	struct outcome *out = run(&g);
	check_text(added(out), MASTER_A, "a service called master");
	check_text(fixture_join(&out->env, '|'), "MASTER_ADDR=a|MASTER_PORT=29500",
		   "a service called master: set once");
	check_part(fixture_notes(&out->notes), "MASTER_PORT='tcp://10.0.0.1:80' was made by Kubernetes",
		   "a service called master: said");
}

/** The last worker's port is 65535. If it would be higher, TF_CONFIG is left out with a warning. */
static void check_ports(void) {
	struct given g = {.frameworks = "tensorflow", .hosts = "a,b,c", .port = 65533};
	check_text(added(run(&g)), TF("\"a:65533\",\"b:65534\",\"c:65535\"", 0), "ports up to 65535");
	g.port = 65534;
	struct outcome *out = run(&g);
	check_text(added(out), "", "ports beyond 65535");
	check_text(remarks(out), "-TF_CONFIG", "ports beyond 65535: left out");
	check_text(fixture_notes(&out->notes),
		   "TF_CONFIG is left out: worker 2 of 3 would get port 65536; choose a port lower than "
		   "65534 (why)",
		   "ports beyond 65535: said");

	// The other frameworks still work.
	g.frameworks = "default";
	check_text(added(run(&g)),
		   "MASTER_ADDR=a|MASTER_PORT=65534|PET_NNODES=3|PET_NODE_RANK=0|PET_MASTER_ADDR=a|PET_"
		   "MASTER_PORT=65534",
		   "ports beyond 65535: the others");
}

/** A list of @n hosts of @len bytes each. */
static const char *long_list(uint32_t n, int len) {
	struct buf buf = BUF(&arena);
	for (uint32_t i = 0; i < n; i++) {
		buf_putf(&buf, "%s%0*u", i ? "," : "", len, i);
	}
	return buf_text(&buf);
}

/** One variable may have 128 KiB, with name and NUL. */
static void check_size(void) {
	// Each worker takes its host and 9 bytes, the last one 8. With the NUL, the sum is the
	// same.
	const uint32_t fixed = sizeof(TF("", 0)) - 1;
	struct given g = {.frameworks = "tensorflow", .port = 20000};
	uint32_t n = (131072 - fixed) / 200;
	g.hosts = long_list(n, 191);
	struct outcome *out = run(&g);
	size_t size = strlen(added(out)) + 1;
	checkf(size == fixed + n * 200u, "%u workers: %zu bytes", n, size);

	// Make the last host as long as possible, then a byte longer.
	for (uint32_t over = 0; over < 2; over++) {
		uint32_t spare = 131072 - (uint32_t)size + over;
		g.hosts = arena_format(&arena, "%s%0*d", long_list(n, 191), (int)spare, 0);
		out = run(&g);
		const char *got = added(out);
		if (over) {
			check_text(got, "", "128 KiB and a byte");
			check_text(remarks(out), "-TF_CONFIG", "128 KiB and a byte: left out");
			check_text(fixture_notes(&out->notes),
				   arena_format(
					   &arena,
					   "TF_CONFIG is left out: with %u workers it has 131073 bytes, and "
					   "the kernel takes 131072 in one variable",
					   n),
				   "128 KiB and a byte: said");
		} else {
			checkf(strlen(got) + 1 == 131072, "just 128 KiB: %zu bytes", strlen(got) + 1);
			check_text(fixture_notes(&out->notes), "", "just 128 KiB: nothing to note");
		}
	}
}

/**
 * Each variable remembers its origin and reason, and variables set by the user are reported as
 * such.
 */
static void check_origins(void) {
	struct given g = {.hosts = "a,b", .env = "MASTER_PORT=1"};
	struct outcome *out = run(&g);
	unsigned without = 0;
	for (uint32_t i = out->env.n_inherited; i < out->env.n; i++) {
		const struct origin *by = out->env.entries[i].by;
		without += !by || !by->by || !by->why || by->line;
	}
	checkf(without == 0 && out->env.n == 7, "all %u variables know their origin (%u do not)", out->env.n,
	       without);
	check_text(out->env.entries[1].by->by, "torch", "who made MASTER_ADDR");
	check_text(out->env.entries[6].by->by, "tensorflow", "who made TF_CONFIG");
	check_text(out->d.remarks->by, "user", "whose MASTER_PORT it is");
}

static void check_parse(const char *text, uint32_t want) {
	uint32_t got = 0x55;
	struct err err = {""};
	int r = frameworks_parse("--frameworks", text, &got, &err);
	uint32_t known = 0;
	for (uint32_t i = 0; frameworks[i]; i++) {
		known |= (uint32_t)1 << i;
	}
	checkf(r == 0 && (got & known) == (want & known), "frameworks '%s': %d, %x", text, r, got);
}

static void check_parse_wrong(const char *text, const char *want) {
	uint32_t got = 0x55;
	struct err err = {"no error"};
	int r = frameworks_parse("LABEL", text, &got, &err);
	checkf(r == -EINVAL && got == 0x55, "frameworks '%s': %d, %x", text, r, got);
	check_part(err.text, want, "frameworks '%s' says", text);
	check_part(err.text, "LABEL='", "frameworks '%s' says where", text);
}

int main(void) {
	arena = fixture_arena();

	check_parse("torch", 1);
	check_parse("torchrun,torch", 3);
	check_parse("tensorflow", 4);
	check_parse("torch,torch", 1);
	// All but rdma, the last.
	uint32_t n = 0;
	while (frameworks[n + 1]) {
		n++;
	}
	check(strcmp(frameworks[n]->name, "rdma") == 0);
	check_parse("all", ((uint32_t)1 << n) - 1);
	check_parse("rdma", (uint32_t)1 << n);
	check_parse("all,rdma", ((uint32_t)2 << n) - 1);
	check_parse("none", 0);
	check_parse("default", frameworks_standard());
	check_parse("none,torch", 1);
	check(frameworks_standard() == 7);
	check_parse_wrong("", "there is no framework ''");
	check_parse_wrong("torch,", "there is no framework ''");
	check_parse_wrong("torhc", "there is no framework 'torhc'; did you mean 'torch'?");
	check_parse_wrong("torch,tensorfow", "there is no framework 'tensorfow'; did you mean 'tensorflow'?");
	check_parse_wrong("torch tensorflow", "there is no framework 'torch tensorflow'");
	check_parse_wrong("Torch,x\n", "did you mean 'torch'?");

	check_torch();
	check_torchrun();
	check_tensorflow();
	check_jax();
	check_xgboost();
	check_paddle();
	check_hostfiles();
	check_interfaces();
	check_roles();
	check_roles_refused();
	check_together();
	check_service_link();
	check_ports();
	check_size();
	check_origins();
	check_against_plain();

	arena_done(&arena);
	return check_done();
}
