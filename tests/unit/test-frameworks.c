// SPDX-License-Identifier: Apache-2.0

/** What each framework makes of a cluster, whoever described it. */

#include "framework/framework.h"

#include "check.h"
#include "cluster/source.h"
#include "fixture.h"

#include <errno.h>

static struct arena arena;

/** A cluster in the words of a test; what is left out (0, NULL) has the value of most. */
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
	bool service_link;
	enum ranks ranks;
	/** What --frameworks has; NULL: the default. */
	const char *frameworks;
	/** The environment before. NULL: empty. */
	const char *env;
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
		.service_link = g->service_link,
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
};

static struct outcome *run(const struct given *g) {
	struct outcome *out = arena_alloc(&arena, sizeof(*out));
	*out = (struct outcome){.notes = {.arena = &arena}, .cluster = cluster_of(g)};
	fixture_env(&out->env, &arena, g->env ? g->env : "", '|');
	out->d = (struct derivation){
		.cluster = &out->cluster, .env = &out->env, .notes = &out->notes, .ranks = g->ranks};
	uint32_t set = frameworks_standard();
	struct err err;
	if (g->frameworks && frameworks_parse("--frameworks", g->frameworks, &set, &err) < 0) {
		check_text(err.text, "", "a test's own list of frameworks");
	}
	frameworks_derive(set, &out->d);
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
	     .env = "PET_NNODES=7|PET_MASTER_PORT=1|PET_NODE_RANK=");

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

/** What the workers' list has to be, made the plain way. */
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

/** Ports that gain a digit on the way, hosts of all lengths, tasks in both orders: as the plain way has it. */
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

/** The port that Kubernetes made for a service called "master" gives way, and that is said. */
static void check_service_link(void) {
	struct given g = {.frameworks = "torch",
			  .hosts = "a,b",
			  .env = "MASTER_PORT=tcp://10.0.0.1:80",
			  .service_link = true};
	struct outcome *out = run(&g);
	check_text(added(out), MASTER_A, "a service called master");
	check_text(fixture_join(&out->env, '|'), "MASTER_ADDR=a|MASTER_PORT=29500",
		   "a service called master: set once");
	check_part(fixture_notes(&out->notes), "MASTER_PORT='tcp://10.0.0.1:80' was made by Kubernetes",
		   "a service called master: said");
}

/** The last worker's port is 65535, or TF_CONFIG is left out, with a word about it. */
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

	// The others do without.
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
	// Each worker takes its host and 9 bytes, the last one 8; with the NUL that comes to the same.
	const uint32_t fixed = sizeof(TF("", 0)) - 1;
	struct given g = {.frameworks = "tensorflow", .port = 20000};
	uint32_t n = (131072 - fixed) / 200;
	g.hosts = long_list(n, 191);
	struct outcome *out = run(&g);
	size_t size = strlen(added(out)) + 1;
	checkf(size == fixed + n * 200u, "%u workers: %zu bytes", n, size);

	// Make the last host as long as is possible, and a byte longer.
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

/** Each variable knows who made it and why; what was the user's is said to be. */
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
	check_parse("all", UINT32_MAX);
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
	check_together();
	check_service_link();
	check_ports();
	check_size();
	check_origins();
	check_against_plain();

	arena_done(&arena);
	return check_done();
}
