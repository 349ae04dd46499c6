// SPDX-License-Identifier: Apache-2.0

/** Facts: what is read, what is masked, and what is sent. */

#include "facts/findings.h"

#include "cluster/source.h"

#include "check.h"
#include "fixture.h"
#include "tree.h"

#include <errno.h>
#include <sys/resource.h>

static struct arena arena;

/** What a test is given. Fields that are NULL are not there. */
struct given {
	const char *env;
	const struct facts_from from;
	const char *files;
};

static struct facts *read_facts(const struct given *g) {
	const char *root = tree_new(&arena);
	struct facts *facts = arena_alloc(&arena, sizeof(*facts));
	struct env env;
	struct facts_from from = g->from;
	fixture_env(&env, &arena, g->env ? g->env : "", '|');
	for (char **file = fixture_split(&arena, g->files ? g->files : "", '|'); *file; file++) {
		char *text = strchr(*file, '=');
		*text = '\0';
		tree_put(root, *file, text + 1);
	}
	from.arena = &arena;
	from.env = &env;
	from.view = tree_view(&arena, root);
	facts_read(&from, facts);
	tree_remove(root);
	return facts;
}

/** "NAME=VALUE" of each fact, joined by '|'. */
static const char *join(const struct fact_list *list) {
	struct buf out = BUF(&arena);
	for (uint32_t i = 0; i < list->n; i++) {
		buf_putf(&out, "%s%s=", i ? "|" : "", list->at[i].name);
		buf_puts(&out, list->at[i].value);
	}
	return buf_text(&out);
}

static const char *value_of(const struct facts *facts, enum fact_group group, const char *name) {
	return facts_find(&facts->list[group], name);
}

// --- env ------------------------------------------------------------------------------------------------

static const char *env_facts(const char *env, const char *names) {
	return join(&read_facts(&(struct given){.env = env, .from = {.env_names = names}})->list[FACTS_ENV]);
}

static void test_env(void) {
	check_text(env_facts("", NULL), "", "nothing is set");
	check_text(env_facts("PATH=/bin|NCCL_DEBUG=INFO|HOME=/|GLOO_A=1|PYTHONPATH=/a:/b", NULL),
		   "GLOO_A=1|NCCL_DEBUG=INFO|PYTHONPATH=/a:/b", "the default names, sorted");
	check_text(env_facts("NCCL_A=|NCCL_B", NULL), "NCCL_A=", "an empty one; an entry without '='");
	check_text(env_facts("NCCL_A=1|NCCL_A=2", NULL), "NCCL_A=1", "set twice: the first counts");
	check_text(env_facts("CUDA_VISIBLE_DEVICES=1|OMPI_MCA_orte_x=1|NCCL_HOSTID=a|CUDA_HOME=/c", NULL),
		   "CUDA_HOME=/c", "what belongs to a host or a rank");
	check_text(env_facts("NCCL_A=1|MINE=2|MY_B=3", "MINE:MY_*"), "MINE=2|MY_B=3", "other names");
	check_text(env_facts("NCCL_A=1", ""), "", "no names");
}

static void test_derived(void) {
	static const struct origin gloo = {.by = "gloo"};
	struct env env;
	struct facts facts;
	struct facts_from from = {
		.arena = &arena, .view = tree_view(&arena, NULL), .env = &env, .interface = "eth0"};
	fixture_env(&env, &arena, "GLOO_A=eth0", '|');
	env_set(&env, STR("GLOO_SOCKET_IFNAME"), STR("eth0"), &gloo);
	env_set(&env, STR("NCCL_SOCKET_IFNAME"), STR("=eth0"), &gloo);
	env_set(&env, STR("NCCL_DEBUG"), STR("INFO"), &gloo);
	facts_read(&from, &facts);
	check_text(join(&facts.list[FACTS_ENV]), "GLOO_A=eth0|NCCL_DEBUG=INFO",
		   "an interface that was found here is not compared");
	from.interface = NULL;
	facts_read(&from, &facts);
	check(facts.list[FACTS_ENV].n == 4);
}

/** Whether @text is in any list or payload. */
static bool appears(const struct facts *facts, const char *text) {
	bool found = false;
	for (unsigned group = 0; group < N_FACT_GROUPS; group++) {
		struct str payload = facts->payload[group];
		found = found || strstr(join(&facts->list[group]), text) ||
			memmem(payload.p, payload.len, text, strlen(text));
	}
	return found;
}

/** Words of a command that others do not get to know. */
static void test_words(void) {
	struct key key;
	key_make(STR("a secret"), &key);
	char *const argv[] = {(char[]){"sh"},
			      (char[]){"-c"},
			      (char[]){"export TOKEN=hunter2"},
			      (char[]){"-H"},
			      (char[]){"Authorization: Bearer hunter2"},
			      (char[]){"-p"},
			      (char[]){"hunter2"},
			      (char[]){"--auth=hunter2"},
			      (char[]){"token:hunter2"},
			      (char[]){"{\"token\": \"hunter2\"}"},
			      (char[]){"two words"},
			      NULL};
	struct facts *plain = read_facts(&(struct given){.env = "", .from = {.argv = argv}});
	struct facts *keyed = read_facts(&(struct given){.env = "", .from = {.argv = argv, .key = &key}});
	static const char front[] =
		"sh -c (masked) -H (masked) -p (masked) --auth=******** token:******** (masked) sha256:";
	check(!appears(plain, "hunter2") && !appears(keyed, "hunter2") && !appears(plain, "two words"));
	check_part(value_of(plain, FACTS_PROGRAM, "argv"), front, "words of a command");
	check_part(value_of(keyed, FACTS_PROGRAM, "argv"), front, "with a key");
	check(strcmp(value_of(plain, FACTS_PROGRAM, "argv"), value_of(keyed, FACTS_PROGRAM, "argv")) != 0);
}

static void test_secrets(void) {
	char *const argv[] = {(char[]){"train"},	   (char[]){"--token"},
			      (char[]){"hunter2"},	   (char[]){"--api-key=hunter2"},
			      (char[]){"x://u:hunter2@h"}, NULL};
	static const char env[] = "NCCL_TOKEN=hunter2|NCCL_URL=http://u:hunter2@h/|NCCL_Z=1";
	struct key key, other_key;
	key_make(STR("one secret"), &key);
	key_make(STR("another secret"), &other_key);
	struct facts *plain = read_facts(&(struct given){.env = env, .from = {.argv = argv}});
	struct facts *keyed = read_facts(&(struct given){.env = env, .from = {.argv = argv, .key = &key}});
	struct facts *other = read_facts(&(struct given){.env = env, .from = {.key = &other_key}});
	struct facts *differs =
		read_facts(&(struct given){.env = "NCCL_TOKEN=hunter3", .from = {.key = &key}});
	check(!appears(plain, "hunter2"));
	check(!appears(keyed, "hunter2"));
	check_text(join(&plain->list[FACTS_ENV]),
		   "NCCL_TOKEN=(masked)|NCCL_URL=http://u:********@h/|NCCL_Z=1", "masked without a key");
	check_text(value_of(plain, FACTS_PROGRAM, "argv"),
		   "train --token (masked) --api-key=******** x://u:********@h", "a command's secrets");
	const char *a = value_of(keyed, FACTS_ENV, "NCCL_TOKEN");
	check_part(a, "(masked) sha256:", "a digest with a key");
	check(strcmp(a, value_of(other, FACTS_ENV, "NCCL_TOKEN")) != 0);
	check(strcmp(a, value_of(differs, FACTS_ENV, "NCCL_TOKEN")) != 0);
	check_text(fact_shown(a), "(masked)", "the digest is not shown");
	check_text(fact_shown("INFO"), "INFO", "another value is");
	// SHA-256 of the bare value, as anybody could compute it.
	check(!appears(keyed, "f52fbd32b2b3b86f"));
}

static void test_long(void) {
	char text[300] = "NCCL_A=";
	memset(text + 7, 'x', 200);
	check_text(env_facts(text, NULL), text, "200 bytes are sent");
	memset(text + 7, 'x', 201);
	// printf x%.0s {1..201} | sha256sum
	check_text(env_facts(text, NULL), "NCCL_A=sha256:84a0678c90937f5d (201 bytes)", "201 are digested");
}

// --- world, program, devices, limits --------------------------------------------------------------------

static const struct source source = {.name = "slurm"};

static struct cluster cluster_of(const char *hosts, enum scope scope) {
	struct cluster c = {.source = &source, .scope = scope};
	uint32_t empty;
	struct err err;
	hosts_split(&arena, "test", hosts, ',', &c.place.hosts, &empty, &err);
	c.nnodes = c.place.hosts.n ? c.place.hosts.n : UNKNOWN;
	c.place.nproc_per_node = c.task.world_size = UNKNOWN;
	return c;
}

static const char *world_facts(const struct cluster *c, const char *master, uint16_t port) {
	struct given g = {.from = {.cluster = c, .master = master, .port = port}};
	return join(&read_facts(&g)->list[FACTS_WORLD]);
}

static void test_world(void) {
	static const uint32_t tasks[] = {8, 8, 4};
	struct cluster c = cluster_of("N1.example.org,n2,10.0.0.3", SCOPE_NODE);
	check_text(world_facts(NULL, NULL, 0), "", "no cluster");
	check_text(world_facts(&c, "n1.example.org", 29500),
		   "hosts=N1.example.org,n2,10.0.0.3|manager=slurm|master=n1|nodes=3|port=29500|scope=node|"
		   "tasks_per_node=?",
		   "the master by its short name");
	c.place.tasks_per_node = tasks;
	c.scope = SCOPE_TASK;
	c.task.world_size = 20;
	check_text(
		world_facts(&c, "localhost", 1),
		"hosts=N1.example.org,n2,10.0.0.3|manager=slurm|master=?|nodes=3|port=1|scope=task|tasks=20|"
		"tasks_per_node=8 x 2,4",
		"in scope task; the loopback is no name");
	c = cluster_of("", SCOPE_NODE);
	c.source = NULL;
	check_text(world_facts(&c, "127.0.0.1", 0),
		   "hosts=?|manager=?|master=?|nodes=?|port=?|scope=node|tasks_per_node=?",
		   "nothing is told");
	check_text(world_facts(&c, "::ffff:10.0.0.1", 0),
		   "hosts=?|manager=?|master=::ffff:10.0.0.1|nodes=?|port=?|scope=node|tasks_per_node=?",
		   "an address is not cut at its dots");
	struct buf many = BUF(&arena);
	for (int i = 0; i < 100; i++) {
		buf_putf(&many, "node%dx,", i);
	}
	c = cluster_of(buf_text(&many), SCOPE_NODE);
	check_part(world_facts(&c, NULL, 0), "hosts=sha256:", "a long list is digested");

	// Some nodes see that the manager's order is another one, and some cannot: they have to differ.
	c = cluster_of("", SCOPE_TASK);
	c.place.shuffled = true;
	check_part(world_facts(&c, NULL, 0), "hosts=in another order|", "hosts whose order is not known");
}

static void test_program(void) {
	const char *root = tree_new(&arena);
	char *script = arena_format(&arena, "%s/train.py", root);
	char tool[] = "tool", flag[] = "-u", missing[] = "/nowhere/x.py";
	char *argv[] = {tool, flag, missing, script, NULL};
	tree_put(root, "/bin/tool", "hello\n");
	tree_put(root, "/train.py", "print(1)\n");
	struct given g = {.from = {.argv = argv, .file = arena_format(&arena, "%s/bin/tool", root)}};
	struct facts *facts = read_facts(&g);
	check_text(value_of(facts, FACTS_PROGRAM, "file"), "6 bytes, sha256:5891b5b522d5df08",
		   "the program's file");
	check_text(value_of(facts, FACTS_PROGRAM, "script"), "9 bytes, sha256:cc42155088fca573",
		   "the first script that is there");
	check_text(value_of(facts, FACTS_PROGRAM, "distinit"), DISTINIT_VERSION, "our version");
	argv[3] = NULL;
	const struct given without = {.from = {.argv = argv, .file = missing}};
	facts = read_facts(&without);
	check_text(value_of(facts, FACTS_PROGRAM, "file"), "?", "no such program");
	check_text(value_of(facts, FACTS_PROGRAM, "script"), "?", "no such script");
	tree_remove(root);
}

static void test_devices(void) {
	struct facts *facts = read_facts(&(struct given){
		.files = "/dev/nvidia0=|/dev/nvidia1=|/proc/sys/kernel/osrelease=6.1\n|"
			 "/proc/driver/nvidia/version=NVRM version: 535.1 x\n|/dev/infiniband/uverbs0=|"
			 "/sys/class/infiniband/a/ports/1/state=4: ACTIVE|/sys/class/net/ib0/mtu=2044|"
			 "/proc/meminfo=MemTotal: 16000000 kB\n|/sys/fs/cgroup/cpu.max=1 1",
		.from = {.interface = "ib0"},
	});
	check_text(
		join(&facts->list[FACTS_DEVICES]),
		"gpu_driver=535.1|gpus=2|gpus_denied=0|kernel=6.1|mtu=2044|nccl_plugin=none|nproc_per_node=?|rdma=1|"
		"rdma_active=1|rdma_family=none|rdma_layer=none|rdma_ports=0|rdma_verbs=1",
		"devices");
	check_text(facts_find(&facts->list[FACTS_LIMITS], "memory_mib"), "16384", "memory");
	check_text(facts_find(&facts->list[FACTS_LIMITS], "cpus"), "1", "CPUs");
	check_text(facts_find(&facts->list[FACTS_LIMITS], "shm_mib"), "0", "no /dev/shm");
	check_text(facts_find(&facts->list[FACTS_LIMITS], "none"), NULL, "no such fact");
}

/** The limits are those at the time. */
static void test_limits(void) {
	struct rlimit before, now;
	getrlimit(RLIMIT_MEMLOCK, &before);
	now = (struct rlimit){65536, before.rlim_max};
	setrlimit(RLIMIT_MEMLOCK, &now);
	struct facts *facts = read_facts(&(struct given){0});
	check_text(facts_find(&facts->list[FACTS_LIMITS], "memlock_kib"), "64", "locked memory");
	getrlimit(RLIMIT_NOFILE, &now);
	check_text(facts_find(&facts->list[FACTS_LIMITS], "nofile"),
		   arena_format(&arena, "%lu", (unsigned long)now.rlim_cur), "open files");
	setrlimit(RLIMIT_MEMLOCK, &before);
}

// --- the payload ----------------------------------------------------------------------------------------

static const char *hex(struct str bytes) {
	struct buf out = BUF(&arena);
	for (size_t i = 0; i < bytes.len; i++) {
		buf_putf(&out, "%02x", (unsigned char)bytes.p[i]);
	}
	return buf_text(&out);
}

static void test_payload(void) {
	struct key key;
	key_make(STR("a secret"), &key);
	const struct facts_from from = {.key = &key};
	struct facts *facts = read_facts(&(struct given){.env = "NCCL_B=xy|NCCL_A=", .from = from});
	check_text(hex(facts->payload[FACTS_ENV]), "020200064e43434c5f410000064e43434c5f4202007879",
		   "FACTS as the protocol has it");
	// The first 8 bytes of the SHA-256 of these bytes.
	checkf(facts->digest[FACTS_ENV] == 0x845a3cf6e145a457u, "the digest, %lx",
	       (unsigned long)facts->digest[FACTS_ENV]);
	for (unsigned group = 0; group < N_FACT_GROUPS; group++) {
		struct fact_list list;
		int r = facts_decode(&arena, facts->payload[group], (enum fact_group)group, &list);
		checkf(r == 0, "%s can be decoded", fact_groups[group]);
		check_text(r == 0 ? join(&list) : "", join(&facts->list[group]), "%s is what was encoded",
			   fact_groups[group]);
		checkf(facts_decode(&arena, facts->payload[group], (enum fact_group)(group ^ 1), &list) ==
			       -EPROTO,
		       "%s is no other group", fact_groups[group]);
	}
	struct facts *same = read_facts(&(struct given){.env = "NCCL_A=|NCCL_B=xy", .from = from});
	struct facts *other = read_facts(&(struct given){.env = "NCCL_A=|NCCL_B=xz", .from = from});
	check(same->digest[FACTS_ENV] == facts->digest[FACTS_ENV]);
	check(other->digest[FACTS_ENV] != facts->digest[FACTS_ENV]);
}

/** Without a secret, others get digests of what users wrote. */
static void test_digests(void) {
	char *const argv[] = {(char[]){"train"}, (char[]){"--lr"}, (char[]){"7"},
			      (char[]){"-p"},	 (char[]){"x"},	   NULL};
	const struct given given = {.env = "NCCL_A=deep|NCCL_B=12|NCCL_C=|NCCL_TOKEN=hunter2",
				    .files = "/proc/sys/kernel/osrelease=6.1-odd",
				    .from = {.argv = argv}};
	struct facts *facts = read_facts(&given);
	struct fact_list list;
	check(facts_decode(&arena, facts->payload[FACTS_ENV], FACTS_ENV, &list) == 0);
	// printf deep | sha256sum
	check_text(
		join(&list),
		"NCCL_A=sha256:74611c1d6455b534|NCCL_B=12|NCCL_C=sha256:e3b0c44298fc1c14|NCCL_TOKEN=(masked)",
		"variables");
	check_text(value_of(facts, FACTS_ENV, "NCCL_A"), "deep", "we know our own");
	check(facts_decode(&arena, facts->payload[FACTS_PROGRAM], FACTS_PROGRAM, &list) == 0);
	check_text(facts_find(&list, "argv"),
		   "sha256:116f54c41d0405db sha256:09b6e6904b03e844 7 sha256:567479c447e47232 (masked)",
		   "the words of a command");
	check(facts_decode(&arena, facts->payload[FACTS_DEVICES], FACTS_DEVICES, &list) == 0);
	check_part(facts_find(&list, "kernel"), DIGEST_MARK, "a device's text");
	check_text(facts_find(&list, "gpus"), "0", "a number");
}

/** Each way to cut a payload, and each byte that is set to 255, is refused or decoded, never worse. */
static void test_broken(void) {
	struct str whole = read_facts(&(struct given){.env = "NCCL_B=xy|NCCL_A="})->payload[FACTS_ENV];
	struct fact_list list;
	for (size_t len = 0; len < whole.len; len++) {
		// A block of its own: the sanitizer sees a byte too many.
		char *part = malloc(len + 1);
		memcpy(part, whole.p, len);
		checkf(facts_decode(&arena, (struct str){part, len}, FACTS_ENV, &list) == -EPROTO,
		       "cut off after %zu bytes", len);
		free(part);
	}
	static const struct {
		const char *bytes;
		size_t len;
		const char *what;
	} cases[] = {
		{"\2\0\0x", 4, "a byte behind the last fact"},
		{"\2\1\0\0\0\0", 6, "a name without letters"},
		{"\2\2\0\1b\0\0\1a\0\0", 11, "names that are not sorted"},
		{"\2\2\0\1a\0\0\1a\0\0", 11, "a name twice"},
		{"\2\1\0\2a\0\0\0", 8, "a NUL in a name"},
		{"\2\1\0\1a\1\0\0", 8, "a NUL in a value"},
		{"\2\377\377\1a\0\0", 7, "more facts than bytes"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str payload = {cases[i].bytes, cases[i].len};
		checkf(facts_decode(&arena, payload, FACTS_ENV, &list) == -EPROTO, "%s", cases[i].what);
	}
	struct buf huge = BUF(&arena);
	buf_put(&huge, (struct str){"\2\1\0\1a\0\1", 7});
	memset(buf_reserve(&huge, 256), 'x', 256);
	huge.len += 256;
	check(facts_decode(&arena, buf_str(&huge), FACTS_ENV, &list) == -EPROTO);
	huge.p[5] = (char)255;
	huge.p[6] = 0;
	huge.len--;
	check(facts_decode(&arena, buf_str(&huge), FACTS_ENV, &list) == 0);
	check(facts_decode(&arena, (struct str){"\2\1\0\1a\0\0", 7}, FACTS_ENV, &list) == 0);
}

static void test_many(void) {
	struct buf env = BUF(&arena), other = BUF(&arena);
	for (int i = 0; i < 1000; i++) {
		buf_putf(&env, "|NCCL_A%d=a long value of this variable %d", i, i);
	}
	buf_put(&other, buf_str(&env));
	buf_puts(&env, "|NCCL_Z=1");
	buf_puts(&other, "|NCCL_Z=2");
	struct facts *facts = read_facts(&(struct given){.env = buf_text(&env) + 1});
	struct facts *changed = read_facts(&(struct given){.env = buf_text(&other) + 1});
	struct fact_list list = {0};
	check(facts->payload[FACTS_ENV].len <= FACTS_PAYLOAD_MAX);
	check(facts_decode(&arena, facts->payload[FACTS_ENV], FACTS_ENV, &list) == 0);
	check(list.n == 1 && facts->list[FACTS_ENV].n == 1001);
	check_text(list.n ? list.at[0].name : "", FACT_TOO_MANY, "only their digest is sent");
	check_part(list.n ? list.at[0].value : "", "sha256:", "which is one");
	check(facts->digest[FACTS_ENV] != changed->digest[FACTS_ENV]);
}

/** More findings than there are checks: all stay. */
static void test_findings(void) {
	struct findings all = {.arena = &arena};
	for (unsigned i = 0; i < 100; i++) {
		findings_add(&all, &(struct finding){.about = arena_format(&arena, "%u", i)});
	}
	check(all.n == 100);
	for (unsigned i = 0; i < all.n; i++) {
		check_text(all.at[i].about, arena_format(&arena, "%u", i), "in their order");
	}
}

int main(void) {
	arena = fixture_arena();
	test_env();
	test_derived();
	test_words();
	test_secrets();
	test_long();
	test_world();
	test_program();
	test_devices();
	test_limits();
	test_payload();
	test_digests();
	test_broken();
	test_many();
	test_findings();
	arena_done(&arena);
	return check_done();
}
