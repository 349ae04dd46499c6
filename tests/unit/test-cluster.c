// SPDX-License-Identifier: Apache-2.0

/**
 * Tests how a cluster is read from an environment: which manager gives which layer, and what is
 * refused.
 */

#include "cluster/cluster.h"

#include "check.h"
#include "cluster/source.h"
#include "fixture.h"
#include "flow/recognise.h"
#include "flow/tables.h"
#include "source/ask.h"

#include <errno.h>
#include <unistd.h>

static struct arena arena;

/** The input for a cluster: entries separated by blanks, and the user's settings. */
struct given {
	const char *env;
	const char *cluster;
	const char *hosts;
	const char *node_rank;
	const char *nnodes;
	const char *master_addr;
	const char *master_port;
	/** NULL: "here". */
	const char *hostname;
};

struct outcome {
	struct env env;
	struct notes notes;
	struct input input;
	struct cluster cluster;
	const struct launcher *started_by;
	struct err err;
	int r;
};

static struct setting setting(const char *value, const char *from) {
	return (struct setting){value, value ? from : NULL, *from == '-' ? BY_COMMAND_LINE : BY_VARIABLE};
}

static struct outcome *run(const struct given *g) {
	struct outcome *out = arena_alloc(&arena, sizeof(*out));
	*out = (struct outcome){.notes = {.arena = &arena}, .err = {"no error"}};
	fixture_env(&out->env, &arena, g->env ? g->env : "", ' ');
	out->input = (struct input){
		.arena = &arena,
		.env = &out->env,
		.notes = &out->notes,
		.access = &fixture_access,

		.hostname = g->hostname ? g->hostname : "here",
		.cluster = setting(g->cluster, "--cluster"),
		.hosts = setting(g->hosts, "--hosts"),
		.node_rank = setting(g->node_rank, "--node-rank"),
		.nnodes = setting(g->nnodes, "--nnodes"),
		.master_addr = setting(g->master_addr, "--master-addr"),
		.master_port = setting(g->master_port, "--master-port"),
	};
	out->r = recognise_cluster(&out->input, &out->env, &out->cluster, &out->started_by, &out->err);
	return out;
}

static void put_number(struct buf *buf, uint32_t number) {
	if (number == UNKNOWN) {
		buf_putc(buf, '?');
	} else {
		buf_putu(buf, number);
	}
}

static void put_hosts(struct buf *buf, const struct cluster *c) {
	for (uint32_t i = 0; i < c->place.hosts.n; i++) {
		buf_puts(buf, i ? "," : "");
		buf_put(buf, hosts_at(&c->place.hosts, i));
		if (c->place.tasks_per_node) {
			buf_putf(buf, "*%u", c->place.tasks_per_node[i]);
		}
	}
	buf_puts(buf, c->nnodes == UNKNOWN ? "?" : "");
}

/**
 * The cluster in a line, where "?" is an unknown value:
 *
 *     SOURCE+LAUNCHER SCOPE HOST[*TASKS],... node I [LAYOUT]
 *         [rank R/SIZE local R/SIZE] ADDR:PORT
 */
static const char *describe(const struct outcome *out) {
	static const char *const layouts[] = {"", " block", " cyclic"};
	const struct cluster *c = &out->cluster;
	struct buf buf = BUF(&arena);
	if (out->r < 0) {
		return out->err.text;
	}
	if (out->r == 0) {
		return out->started_by ? arena_format(&arena, "none, %s", out->started_by->name) : "none";
	}
	buf_putf(&buf, "%s%s%s %s ", c->source ? c->source->name : "", c->launcher ? "+" : "",
		 c->launcher ? c->launcher->name : "", scope_name(c->scope));
	put_hosts(&buf, c);
	buf_puts(&buf, " node ");
	put_number(&buf, c->place.node_rank);
	buf_puts(&buf, layouts[c->place.layout]);
	if (c->launcher) {
		const uint32_t numbers[] = {c->task.rank, c->task.world_size, c->task.local_rank,
					    c->task.local_size};
		for (unsigned i = 0; i < 4; i++) {
			buf_puts(&buf, i == 0 ? " rank " : i == 2 ? " local " : "/");
			put_number(&buf, numbers[i]);
		}
	}
	buf_putc(&buf, ' ');
	buf_put(&buf, c->master_addr.len ? c->master_addr : STR("?"));
	buf_putf(&buf, ":%u", c->master_port);
	return buf_text(&buf);
}

/** Read without a word: @want. */
static void check_case(const char *name, struct given given, const char *want) {
	struct outcome *out = run(&given);
	check_text(describe(out), want, "%s", name);
	check_text(fixture_notes(&out->notes), "", "%s: nothing to note", name);
}

static void check_noted(const char *name, struct given given, const char *want, const char *note) {
	struct outcome *out = run(&given);
	check_text(describe(out), want, "%s", name);
	check_part(fixture_notes(&out->notes), note, "%s: noted", name);
}

/** Check that it is refused with @want in the message, and that @out is unchanged. */
static void check_refused(const char *name, struct given given, const char *want) {
	struct outcome *out = run(&given);
	const struct cluster untouched = {0};
	int refused = strstr(want, "no such manager") ? -ENOENT : -EINVAL;
	checkf(out->r == refused && memcmp(&out->cluster, &untouched, sizeof(untouched)) == 0,
	       "refuse %s: %d", name, out->r);
	check_part(out->err.text, want, "refuse %s", name);
}

#define CASE(name, want, ...)	     check_case(name, (struct given){__VA_ARGS__}, want)
#define NOTED(name, want, note, ...) check_noted(name, (struct given){__VA_ARGS__}, want, note)
#define REFUSED(name, want, ...)     check_refused(name, (struct given){__VA_ARGS__}, want)

#define BAI(size, hosts) "BACKENDAI_CLUSTER_SIZE=" size " BACKENDAI_CLUSTER_HOSTS=" hosts " "
#define BAI_RANK	 "BACKENDAI_CLUSTER_LOCAL_RANK="
#define BAI_HOST	 "BACKENDAI_CLUSTER_HOST="

static void check_none(void) {
	CASE("nothing", "none", .env = "PATH=/bin HOME=/");
	CASE("ranks alone are no facts", "none", .env = "RANK=1 WORLD_SIZE=2 LOCAL_RANK=0 MASTER_ADDR=a");
	CASE("a child of torchrun", "none, torchrun",
	     .env = "TORCHELASTIC_RUN_ID=x RANK=1 WORLD_SIZE=2 LOCAL_RANK=1 " BAI("2", "main1,sub1"));
	CASE("empty variables count as unset", "none",
	     .env = "BACKENDAI_CLUSTER_SIZE= SLURM_JOB_ID= OMPI_COMM_WORLD_RANK= OMPI_COMM_WORLD_SIZE=");
	REFUSED("an unknown source",
		"--cluster='slrum': there is no such manager; did you mean 'slurm'?; see "
		"'distinit managers'",
		.cluster = "slrum");
	REFUSED("a source that is none at all",
		"--cluster='xyzzyxyzzy': there is no such manager; see 'distinit managers'",
		.cluster = "xyzzyxyzzy");
	REFUSED("a source that is not here",
		"--cluster=slurm: its variables are not set here; 'distinit managers' lists them",
		.cluster = "slurm", .env = BAI("2", "main1,sub1"));
}

static void check_manual(void) {
	CASE("manual", "manual node a,b node 1 a:29500", .hosts = "a,b", .node_rank = "1");
	CASE("manual: a host list", "manual node n1,n2,n3 node 0 n1:29500", .hosts = "n[1-3]",
	     .node_rank = "0");
	CASE("manual: found by name", "manual node a,here,c node 1 a:29500", .hosts = "a,here,c");
	CASE("manual: found by short name", "manual node a.x,here.x node 1 a.x:29500", .hosts = "a.x,here.x");
	CASE("manual: found by address", "manual node 192.0.2.1,127.0.0.1 node 1 192.0.2.1:29500",
	     .hosts = "192.0.2.1,127.0.0.1");
	CASE("manual: the only one", "manual node a node 0 a:29500", .hosts = "a");
	CASE("manual: above all others", "manual node a,b node 0 a:29500", .hosts = "a,b", .node_rank = "0",
	     .env = BAI("2", "main1,sub1") BAI_RANK "1");
	CASE("manual: with a launcher's ranks", "manual+openmpi task a,b node 1 rank 3/4 local 1/2 a:29500",
	     .hosts = "a,b", .node_rank = "1",
	     .env = "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1 "
		    "OMPI_COMM_WORLD_LOCAL_SIZE=2");
	REFUSED("manual: not in the list",
		"--hosts='a,b': this machine, 'here', is not in the list; pass --node-rank=N (0 to 1)",
		.hosts = "a,b");
	REFUSED("manual: two addresses of ours",
		"both '127.0.0.1' and '127.0.0.2' are addresses of this machine; pass --node-rank=N (0 to 1)",
		.hosts = "127.0.0.1,127.0.0.2");
	REFUSED("manual: a rank too high", "--node-rank=2, but --hosts ", .hosts = "a,b", .node_rank = "2");
	REFUSED("manual: a rank that is none", "--node-rank='x' is not a whole number", .hosts = "a,b",
		.node_rank = "x");
	REFUSED("manual: a host twice", "--hosts lists the host 'a' twice, as number 1 and 3",
		.hosts = "a,b,a", .node_rank = "0");
	REFUSED("manual: no host", "--hosts lists no host", .hosts = ",");
	REFUSED("manual: no host, but a rank", "--hosts lists no host", .hosts = "", .node_rank = "0");
	REFUSED("manual: a bad list", "--hosts='n[1', column 2: the bracket is not closed", .hosts = "n[1");
	REFUSED("manual: a bad name",
		"--hosts: the host name 'a;b' has ';' in it; letters, digits and . - _ : % are expected",
		.hosts = "a;b,c", .node_rank = "0");
}

static void check_backendai(void) {
	CASE("backendai", "backendai node main1,sub1 node 1 main1:29500",
	     .env = BAI("2", "main1,sub1") BAI_RANK "1");
	CASE("backendai: main first", "backendai node main1,sub1,sub2 node 1 main1:29500",
	     .env = BAI("3", "sub1,main1,sub2") BAI_HOST "sub1");
	CASE("backendai: several mains first, in their order",
	     "backendai node main2,main1,sub2,sub1 node 3 main2:29500",
	     .env = BAI("4", "main2,sub2,main1,sub1") BAI_RANK "3");
	CASE("backendai: a main only if a number follows",
	     "backendai node main1,mainx,main node 1 main1:29500",
	     .env = BAI("3", "mainx,main,main1") BAI_RANK "1");
	CASE("backendai: its own port", "backendai node main1,sub1 node 0 main1:12345",
	     .env = BAI("2", "main1,sub1") BAI_RANK "0 BACKENDAI_DIST_MASTER_PORT=12345");
	CASE("backendai: one", "backendai node main1 node 0 main1:29500", .env = BAI("1", "main1,sub1"));
	CASE("backendai: one, by its name", "backendai node x node 0 x:29500",
	     .env = BAI("1", "") BAI_HOST "x");
	CASE("backendai: one has no use for a port", "backendai node main1 node 0 main1:29500",
	     .env = BAI("1", "main1") "MASTER_PORT=x BACKENDAI_DIST_MASTER_PORT=y");
	NOTED("backendai: the name's place wins", "backendai node main1,sub1 node 1 main1:29500",
	      "BACKENDAI_CLUSTER_LOCAL_RANK=0, but BACKENDAI_CLUSTER_HOST='sub1' is number 1 of the hosts",
	      .env = BAI("2", "main1,sub1") BAI_RANK "0 " BAI_HOST "sub1");
	NOTED("backendai: nobody tells the rank", "backendai node main1,sub1 node 0 main1:29500",
	      "node rank 0 is used", .env = BAI("2", "main1,sub1"));
	NOTED("backendai: an empty name", "backendai node main1,sub1 node 1 main1:29500",
	      "contains an empty name", .env = BAI("2", "main1,,sub1,") BAI_RANK "1");

	REFUSED("backendai: a size that is none", "BACKENDAI_CLUSTER_SIZE='two' is not a whole number",
		.env = BAI("two", "main1,sub1"));
	REFUSED("backendai: a name that is not in the list, and no rank",
		"BACKENDAI_CLUSTER_HOST='sub2' is not in BACKENDAI_CLUSTER_HOSTS='main1,sub1', and "
		"BACKENDAI_CLUSTER_LOCAL_RANK is not set; pass --node-rank",
		.env = BAI("2", "main1,sub1") BAI_HOST "sub2");
	REFUSED("backendai: no hosts", "BACKENDAI_CLUSTER_SIZE=2, but BACKENDAI_CLUSTER_HOSTS is not set",
		.env = BAI("2", "") BAI_RANK "0");
	REFUSED("backendai: another size",
		"BACKENDAI_CLUSTER_SIZE=3, but BACKENDAI_CLUSTER_HOSTS='main1,sub1' ",
		.env = BAI("3", "main1,sub1"));
	REFUSED("backendai: a rank too high", "BACKENDAI_CLUSTER_LOCAL_RANK=2, but BACKENDAI_CLUSTER_HOSTS ",
		.env = BAI("2", "main1,sub1") BAI_RANK "2");
	REFUSED("backendai: a rank that is none", "BACKENDAI_CLUSTER_LOCAL_RANK='-1' is not a whole number",
		.env = BAI("2", "main1,sub1") BAI_RANK "-1");
	REFUSED("backendai: a rank of 2^32 - 1",
		"BACKENDAI_CLUSTER_LOCAL_RANK='4294967295' is not a whole number",
		.env = BAI("2", "main1,sub1") BAI_RANK "4294967295");
	REFUSED("backendai: a host twice",
		"BACKENDAI_CLUSTER_HOSTS lists the host 'main1' twice, as number 1 and 2",
		.env = BAI("2", "main1,main1") BAI_RANK "0");
	REFUSED("backendai: a port that is none", "BACKENDAI_DIST_MASTER_PORT='0' is not a port (1 to 65535)",
		.env = BAI("2", "main1,sub1") BAI_RANK "0 BACKENDAI_DIST_MASTER_PORT=0");
}

/** Two nodes of two tasks; this is the last of them. */
#define NODES "SLURM_JOB_ID=7 SLURM_STEP_ID=2 SLURM_STEP_NODELIST=n[1-2] SLURM_STEP_NUM_NODES=2 "
#define STEP  NODES "SLURM_STEP_TASKS_PER_NODE=2(x2) SLURM_NODEID=1 "
#define TASK  "SLURM_PROCID=3 SLURM_STEP_NUM_TASKS=4 SLURM_LOCALID=1 "

static void check_slurm_step(void) {
	CASE("slurm: a task", "slurm+slurm task n1*2,n2*2 node 1 block rank 3/4 local 1/2 n1:20219",
	     .env = STEP TASK);
	CASE("slurm: a step under pyxis", "slurm node n1*2,n2*2 node 1 block n1:20219", .env = STEP);
	CASE("slurm: dealt in turn", "slurm+slurm task n1*2,n2*2 node 1 cyclic rank 3/4 local 1/2 n1:20219",
	     .env = STEP TASK "SLURM_DISTRIBUTION=cyclic");
	CASE("slurm: the first word is about nodes",
	     "slurm+slurm task n1*2,n2*2 node 1 block rank 3/4 local 1/2 n1:20219",
	     .env = STEP TASK "SLURM_DISTRIBUTION=block:cyclic,Pack");
	CASE("slurm: dealt in a way nobody knows",
	     "slurm+slurm task n1*2,n2*2 node 1 rank 3/4 local 1/2 n1:20219",
	     .env = STEP TASK "SLURM_DISTRIBUTION=plane");
	CASE("slurm: said to be dealt in turn, which is not so",
	     "slurm+slurm task n1*2,n2*2 node 1 rank 2/4 local 0/2 n1:20219",
	     .env = STEP "SLURM_PROCID=2 SLURM_STEP_NUM_TASKS=4 SLURM_LOCALID=0 SLURM_DISTRIBUTION=cyclic");
	CASE("slurm: uneven, in turn",
	     "slurm+slurm task a*1,b*3,c*2 node 1 cyclic rank 5/6 local 2/3 a:20000",
	     .env = "SLURM_JOB_ID=0 SLURM_STEP_ID=0 SLURM_STEP_NODELIST=a,b,c SLURM_NODEID=1 "
		    "SLURM_STEP_TASKS_PER_NODE=1,3,2 SLURM_PROCID=5 SLURM_STEP_NUM_TASKS=6 SLURM_LOCALID=2 "
		    "SLURM_DISTRIBUTION=cyclic");
	CASE("slurm: uneven, in turn, behind a node that is full",
	     "slurm+slurm task a*1,b*3,c*2 node 1 cyclic rank 3/6 local 1/3 a:20000",
	     .env = "SLURM_JOB_ID=0 SLURM_STEP_ID=0 SLURM_STEP_NODELIST=a,b,c SLURM_NODEID=1 "
		    "SLURM_STEP_TASKS_PER_NODE=1,3,2 SLURM_PROCID=3 SLURM_STEP_NUM_TASKS=6 SLURM_LOCALID=1 "
		    "SLURM_DISTRIBUTION=cyclic");
	CASE("slurm: reserved ports", "slurm+slurm task n1*2,n2*2 node 1 block rank 3/4 local 1/2 n1:17355",
	     .env = STEP TASK "SLURM_STEP_RESV_PORTS=17354-17355");
	CASE("slurm: one reserved port",
	     "slurm+slurm task n1*2,n2*2 node 1 block rank 3/4 local 1/2 n1:17354",
	     .env = STEP TASK "SLURM_STEP_RESV_PORTS=17000,17354");
	CASE("slurm: one task is no cluster",
	     "slurm+slurm task n1*1 node 0 block rank 0/1 local 0/1 n1:29500",
	     .env = "SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_STEP_NODELIST=n1 SLURM_STEP_TASKS_PER_NODE=1 "
		    "SLURM_NODEID=0 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 SLURM_LOCALID=0 MASTER_PORT=x");
	CASE("slurm: asked for by name", "slurm node n1*2,n2*2 node 1 block n1:20219", .env = STEP,
	     .cluster = "slurm");
	CASE("slurm: another launcher in the step",
	     "slurm+openmpi task n1,n2,n3 node 2 rank 1/2 local 0/1 n1:20217",
	     .env = NODES "SLURM_NODEID=0 SLURM_JOB_NODELIST=n[1-3] OMPI_COMM_WORLD_RANK=1 "
			  "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=1 "
			  "PMIX_HOSTNAME=n3");

	REFUSED("slurm: another number of nodes", "SLURM_STEP_NUM_NODES=3, but SLURM_STEP_NODELIST='n[1-2]' ",
		.env = "SLURM_JOB_ID=7 SLURM_STEP_ID=2 SLURM_STEP_NODELIST=n[1-2] SLURM_STEP_NUM_NODES=3");
	REFUSED("slurm: another number of tasks",
		"slurm: the tasks of all nodes add up to 4, but SLURM_STEP_NUM_TASKS=5",
		.env = STEP "SLURM_PROCID=3 SLURM_STEP_NUM_TASKS=5 SLURM_LOCALID=1");
	REFUSED("slurm: a rank too high", "SLURM_PROCID=4 is not below SLURM_STEP_NUM_TASKS=4",
		.env = STEP "SLURM_PROCID=4 SLURM_STEP_NUM_TASKS=4 SLURM_LOCALID=1");
	REFUSED("slurm: a local rank too high", "SLURM_LOCALID=2",
		.env = STEP "SLURM_PROCID=3 SLURM_STEP_NUM_TASKS=4 SLURM_LOCALID=2");
	REFUSED("slurm: a node too high", "SLURM_NODEID=2, but SLURM_STEP_NODELIST ",
		.env = NODES "SLURM_NODEID=2");
	REFUSED("slurm: a rank that is none", "SLURM_PROCID='x' is not a whole number",
		.env = STEP "SLURM_PROCID=x SLURM_STEP_NUM_TASKS=4");
	REFUSED("slurm: counts that are none",
		"SLURM_STEP_TASKS_PER_NODE='2(x)': '2(x)' is not a count such as 2 or 2(x3)",
		.env = NODES "SLURM_STEP_TASKS_PER_NODE=2(x)");
	REFUSED("slurm: reserved ports that are none",
		"SLURM_STEP_RESV_PORTS='17354-' does not end with a port (1 to 65535)",
		.env = STEP TASK "SLURM_STEP_RESV_PORTS=17354-");
	REFUSED("slurm: no node", "SLURM_STEP_NODELIST lists no host",
		.env = "SLURM_JOB_ID=7 SLURM_STEP_ID=2 SLURM_STEP_NODELIST=,");
}

static void check_slurm_port(void) {
	// 20000 + (31 x job + step) mod 9400
	CASE("slurm: the port of a high job id", "slurm node n1,n2 node 1 n1:27945",
	     .env = "SLURM_JOB_ID=4294967295 SLURM_STEP_ID=0 SLURM_STEP_NODELIST=n[1-2] SLURM_NODEID=1 "
		    "SLURM_DISTRIBUTION=plane");
	CASE("slurm: the port of an array's job", "slurm node n1,n2 node 1 n1:20031",
	     .env = "SLURM_JOB_ID=1_2 SLURM_STEP_ID=0 SLURM_STEP_NODELIST=n[1-2] SLURM_NODEID=1 "
		    "SLURM_DISTRIBUTION=plane");
	CASE("slurm: the step after", "slurm node n1,n2 node 1 n1:20032",
	     .env = "SLURM_JOB_ID=1 SLURM_STEP_ID=1 SLURM_STEP_NODELIST=n[1-2] SLURM_NODEID=1 "
		    "SLURM_DISTRIBUTION=plane");
}

#define JOB "SLURM_JOB_ID=7 SLURM_JOB_NODELIST=n[1-2] SLURM_TASKS_PER_NODE=2(x2) "

static void check_slurm_allocation(void) {
	CASE("allocation", "slurm allocation n1*2,n2*2 node 0 n1:20217",
	     .env = JOB "SLURM_NODEID=0 SLURM_PROCID=0 SLURM_NTASKS=4 SLURMD_NODENAME=n1");
	CASE("allocation: salloc's shell", "slurm allocation n1*2,n2*2 node ? n1:20217", .env = JOB);
	CASE("allocation: a batch step is no step", "slurm allocation n1*2,n2*2 node ? n1:20217",
	     .env = JOB
	     "SLURM_STEP_ID=4294967291 SLURM_STEP_NODELIST=n1 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1");
	CASE("allocation: the last real step", "slurm node n1,n2 node 1 block n1:23911",
	     .env = "SLURM_JOB_ID=1 SLURM_STEP_ID=4294967280 SLURM_STEP_NODELIST=n[1-2] SLURM_NODEID=1");
	CASE("allocation: under mpirun", "slurm+openmpi task n1,n2 node 1 rank 2/4 local 0/2 n1:20217",
	     .env = JOB "SLURM_NODEID=0 SLURMD_NODENAME=n2 OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4 "
			"OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=2");
	CASE("allocation: under a launcher that copies its environment",
	     "slurm+hydra task n1,n2 node 1 rank 2/4 local 0/2 n1:20217",
	     .env = JOB "SLURMD_NODENAME=n1 PMI_RANK=2 PMI_SIZE=4 MPI_LOCALRANKID=0 MPI_LOCALNRANKS=2",
	     .hostname = "n2.cluster");
	CASE("allocation: two groups", "slurm allocation a1*1,b1*2,b2*2 node ? a1:20217",
	     .env = "SLURM_JOB_ID=7 SLURM_HET_SIZE=2 SLURM_JOB_NODELIST_HET_GROUP_0=a1 "
		    "SLURM_JOB_NODELIST_HET_GROUP_1=b[1-2] SLURM_TASKS_PER_NODE_HET_GROUP_0=1 "
		    "SLURM_TASKS_PER_NODE_HET_GROUP_1=2(x2)");
	CASE("allocation: an older name", "slurm allocation n1,n2 node ? n1:20217",
	     .env = "SLURM_JOB_ID=7 SLURM_NODELIST=n[1-2]");
	REFUSED("allocation: a node too high", "SLURM_NODEID=2, but SLURM_JOB_NODELIST ",
		.env = JOB "SLURM_NODEID=2");
	REFUSED("allocation: a missing group",
		"SLURM_JOB_NODELIST is not set, nor is SLURM_JOB_NODELIST_HET_GROUP_n for every group up to "
		"SLURM_HET_SIZE",
		.env = "SLURM_JOB_ID=7 SLURM_HET_SIZE=2 SLURM_JOB_NODELIST_HET_GROUP_0=a1");
}

/** Rank 0 runs where the first line of the host file says. */
static void check_arbitrary(void) {
	char path[] = "/tmp/distinit-test-hostfile-XXXXXX";
	int fd = mkstemp(path);
	static const char text[] = "\n# the ranks\n  n2 \nn1\nn1\nn2\n";
	if (!check(fd >= 0 && write(fd, text, sizeof(text) - 1) == sizeof(text) - 1)) {
		return;
	}
	CASE("arbitrary", "slurm+slurm task n1*2,n2*2 node 1 rank 3/4 local 1/2 n2:20219",
	     .env = arena_format(&arena, "%sSLURM_DISTRIBUTION=arbitrary SLURM_HOSTFILE=%s", STEP TASK,
				 path));
	close(fd);
	unlink(path);
	CASE("arbitrary: of two nodes, this one knows",
	     "slurm+slurm task n1*2,n2*2 node 1 rank 3/4 local 1/2 n1:20219",
	     .env = STEP TASK "SLURM_DISTRIBUTION=arbitrary SLURM_GTIDS=1,3");
	CASE("arbitrary: of two nodes, it is this one",
	     "slurm+slurm task n1*2,n2*2 node 1 rank 3/4 local 1/2 n2:20219",
	     .env = STEP TASK "SLURM_DISTRIBUTION=arbitrary SLURM_GTIDS=0,3");
	CASE("arbitrary: an address is told", "slurm+slurm task n1*2,n2*2 node 1 rank 3/4 local 1/2 x:20219",
	     .env = STEP TASK "SLURM_DISTRIBUTION=arbitrary", .master_addr = "x");
	struct given given = {.env = STEP TASK "SLURM_DISTRIBUTION=arbitrary"};
	check_part(describe(run(&given)), "says where rank 0 runs, but SLURM_HOSTFILE is not set",
		   "arbitrary: nobody knows");
	given.env = STEP TASK "SLURM_DISTRIBUTION=arbitrary SLURM_HOSTFILE=/nonexistent/file";
	check_part(describe(run(&given)), "cannot be read: No such file or directory",
		   "arbitrary: no such file");
}

static void check_launchers(void) {
	CASE("openmpi alone", "+openmpi task ? node ? rank 3/4 local 1/2 m:29500", .master_addr = "m",
	     .env = "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1 "
		    "OMPI_COMM_WORLD_LOCAL_SIZE=2");
	CASE("openmpi on one node", "+openmpi task 127.0.0.1 node 0 rank 3/4 local 3/4 127.0.0.1:29500",
	     .env = "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=3 "
		    "OMPI_COMM_WORLD_LOCAL_SIZE=4");
	CASE("openmpi without its local numbers", "+openmpi task ? node ? rank 3/4 local ?/? m:29500",
	     .env = "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 MASTER_ADDR=m");
	CASE("mvapich2", "+mvapich2 task ? node ? rank 1/2 local 0/1 m:29500", .master_addr = "m",
	     .env = "MV2_COMM_WORLD_RANK=1 MV2_COMM_WORLD_SIZE=2 MV2_COMM_WORLD_LOCAL_RANK=0 "
		    "MV2_COMM_WORLD_LOCAL_SIZE=1");
	CASE("hydra", "+hydra task ? node ? rank 1/2 local 0/1 m:29500", .master_addr = "m",
	     .env = "PMI_RANK=1 PMI_SIZE=2 MPI_LOCALRANKID=0 MPI_LOCALNRANKS=1");
	CASE("PMI alone", "+pmi task ? node ? rank 1/2 local ?/? m:29500", .master_addr = "m",
	     .env = "PMI_RANK=1 PMI_SIZE=2");
	CASE("one of one", "+openmpi task 127.0.0.1 node 0 rank 0/1 local ?/? 127.0.0.1:29500",
	     .env = "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1");
	CASE("the innermost of two", "+openmpi task ? node ? rank 0/2 local ?/? m:29500", .master_addr = "m",
	     .env = "PMI_RANK=1 PMI_SIZE=3 MPI_LOCALRANKID=0 MPI_LOCALNRANKS=1 OMPI_COMM_WORLD_RANK=0 "
		    "OMPI_COMM_WORLD_SIZE=2");
	CASE("a launcher in a manager",
	     "backendai+openmpi task main1,sub1 node 1 rank 1/2 local 0/1 main1:29500",
	     .env = BAI("2", "main1,sub1") BAI_RANK
	     "1 OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 "
	     "OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=1");
	CASE("a manager's own launcher counts with it only", "backendai node main1,sub1 node 1 main1:29500",
	     .env = STEP TASK BAI("2", "main1,sub1") BAI_RANK "1");
	CASE("a manager's own launcher, and hosts by hand",
	     "manual+slurm task a,b node 0 rank 3/4 local 1/? a:29500", .hosts = "a,b", .node_rank = "0",
	     .env = STEP TASK);
	NOTED("the hosts are not known", "+openmpi task ? node ? rank 3/4 local ?/? ?:29500",
	      "openmpi describes the ranks but not the hosts, so MASTER_ADDR is left out",
	      .env = "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4");
	REFUSED("a rank too high", "OMPI_COMM_WORLD_RANK=4 is not below OMPI_COMM_WORLD_SIZE=4",
		.env = "OMPI_COMM_WORLD_RANK=4 OMPI_COMM_WORLD_SIZE=4");
	REFUSED("a local rank too high",
		"OMPI_COMM_WORLD_LOCAL_RANK=2 is not below OMPI_COMM_WORLD_LOCAL_SIZE=2",
		.env = "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=2 "
		       "OMPI_COMM_WORLD_LOCAL_SIZE=2");
	REFUSED("a world of none", "OMPI_COMM_WORLD_RANK=0 is not below OMPI_COMM_WORLD_SIZE=0",
		.env = "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=0");
	REFUSED("a size that is none", "PMI_SIZE='2x' is not a whole number",
		.env = "PMI_RANK=1 PMI_SIZE=2x MPI_LOCALRANKID=0 MPI_LOCALNRANKS=1");
}

/** The user's own value first, then the option, then the manager's, then the default. */
static void check_master(void) {
	const char *bai = BAI("2", "main1,sub1") BAI_RANK "1 BACKENDAI_DIST_MASTER_PORT=12345 ";
	NOTED("the user's address", "backendai node main1,sub1 node 1 x:12345",
	      "MASTER_ADDR='x' in the environment overrides --master-addr='y'; --set MASTER_ADDR='y' would "
	      "override it",
	      .master_addr = "y", .env = arena_format(&arena, "%sMASTER_ADDR=x", bai));
	CASE("the address that was told", "backendai node main1,sub1 node 1 y:12345", .master_addr = "y",
	     .env = arena_format(&arena, "%sMASTER_ADDR=", bai));
	NOTED("the user's port", "backendai node main1,sub1 node 1 main1:1",
	      "MASTER_PORT='1' in the environment overrides --master-port='2'; --set MASTER_PORT='2' would "
	      "override it",
	      .master_port = "2", .env = arena_format(&arena, "%sMASTER_PORT=1", bai));
	CASE("the port that was told", "backendai node main1,sub1 node 1 main1:65535", .master_port = "65535",
	     .env = arena_format(&arena, "%sMASTER_PORT=", bai));
	CASE("a service called master", "backendai node main1,sub1 node 1 main1:12345",
	     .env = arena_format(&arena, "%sMASTER_PORT=tcp://10.0.0.1:80", bai));
	REFUSED("a port that is none", "MASTER_PORT='65536' is not a port (1 to 65535)",
		.env = arena_format(&arena, "%sMASTER_PORT=65536", bai));
	REFUSED("a port that is told and none", "--master-port='x' is not a port (1 to 65535)",
		.master_port = "x", .env = bai);
}

static void check_recognised(const char *env, const char *want) {
	struct given given = {.env = env};
	struct outcome *out = run(&given);
	check_text(out->r > 0 ? out->cluster.recognised_by : NULL, want, "%s is recognised by", env);
}

static bool is_detected(const struct source *source, char **entries) {
	struct env env;
	struct notes notes = {.arena = &arena};
	struct input in = {
		.arena = &arena, .env = &env, .notes = &notes, .access = &fixture_access, .hostname = "here"};
	env_init(&env, &arena, entries);
	return source_detect(&in, source) != NULL;
}

/** The source @name is recognised by all of @env, and without any of its entries it is not. */
static void check_needs(const char *name, const char *env) {
	const struct source *const *source = sources;
	while (*source && strcmp((*source)->name, name) != 0) {
		source++;
	}
	if (!checkf(*source && is_detected(*source, fixture_split(&arena, env, ' ')), "%s: %s", name, env)) {
		return;
	}
	char **all = fixture_split(&arena, env, ' ');
	for (size_t i = 0; all[i]; i++) {
		char **some = fixture_split(&arena, env, ' ');
		for (char **rest = some + i; *rest; rest++) {
			rest[0] = rest[1];
		}
		checkf(!is_detected(*source, some), "%s: not without %s", name, all[i]);
	}
}

static void check_all_needs(void) {
	check_needs("awsbatch", "AWS_BATCH_JOB_NUM_NODES=2");
	check_needs("azurebatch", "AZ_BATCH_HOST_LIST=a,b AZ_BATCH_MASTER_NODE=a:6000");
	check_needs("azurebatch", "AZ_BATCH_NODE_LIST=a;b AZ_BATCH_MASTER_NODE=a:6000");
	check_needs("azureml", "AZUREML_NODE_COUNT=2 AZUREML_EXPERIMENT_ID=x");
	check_needs("azureml", "AZ_BATCHAI_MPI_MASTER_NODE=a AZUREML_EXPERIMENT_ID=x");
	check_needs("backendai", "BACKENDAI_CLUSTER_SIZE=2");
	check_needs("flux", "FLUX_JOB_ID=1 FLUX_JOB_NNODES=2 FLUX_JOB_SIZE=2 FLUX_TASK_RANK=0");
	check_needs("gridengine", "PE_HOSTFILE=/f JOB_ID=1 SGE_ROOT=/r ARC=lx");
	check_needs("grove", "GROVE_PCLQ_NAME=a-ldr GROVE_PCLQ_POD_INDEX=0 GROVE_HEADLESS_SERVICE=s");
	check_needs("grove", "GROVE_PCLQ_NAME=a-wkr GROVE_PCLQ_POD_INDEX=0 GROVE_HEADLESS_SERVICE=s");
	check_needs("indexedjob", "JOB_COMPLETION_INDEX=0");
	check_needs("lsf", "LSB_HOSTS=a LSB_JOBID=1");
	check_needs("lsf", "LSB_MCPU_HOSTS=a LSB_JOBID=1");
	check_needs("lsf", "LSB_DJOB_HOSTFILE=/f LSB_JOBID=1");
	check_needs("lsf", "LSB_DJOB_RANKFILE=/f LSB_JOBID=1");
	check_needs("lws", "LWS_GROUP_SIZE=2");
	check_needs("sagemaker", "SM_HOSTS=[]");
	check_needs("tpu", "TPU_WORKER_HOSTNAMES=a,b TPU_WORKER_ID=0");
	check_needs("vertex", "CLUSTER_SPEC={\"workerpool0\":1}");
	check_needs("volcano", "VC_A_HOSTS=a");
}

static void check_port(const char *value, int want_r, uint16_t want) {
	uint16_t got = 7;
	struct err err;
	int r = parse_port("P", value, &got, &err);
	checkf(r == want_r && got == (r < 0 ? 7 : want), "port '%s': %d, %u", value, r, got);
}

int main(void) {
	arena = fixture_arena();
	check_none();
	check_manual();
	check_backendai();
	check_slurm_step();
	check_slurm_port();
	check_slurm_allocation();
	check_arbitrary();
	check_launchers();
	check_master();

	check_recognised(BAI("2", "main1,sub1") BAI_RANK "0", "BACKENDAI_CLUSTER_SIZE");
	check_recognised(STEP TASK, "SLURM_STEP_ID");
	check_recognised(JOB, "SLURM_JOB_ID");
	check_recognised("OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1", "OMPI_COMM_WORLD_RANK");

	check_all_needs();
	check_port("1", 0, 1);
	check_port("65535", 0, 65535);
	check_port("00080", 0, 80);
	check_port("0", -EINVAL, 0);
	check_port("65536", -EINVAL, 0);
	check_port("", -EINVAL, 0);
	check_port("80/tcp", -EINVAL, 0);

	arena_done(&arena);
	return check_done();
}
