// SPDX-License-Identifier: Apache-2.0

/** One run of the flow: what the user wants and an environment go in, the program's environment comes out. */

#include "flow/flow.h"

#include "check.h"
#include "fixture.h"
#include "flow/changes.h"
#include "flow/master.h"
#include "flow/privileges.h"
#include "flow/recognise.h"

#include <errno.h>
#include <unistd.h>

#define PAIR "BACKENDAI_CLUSTER_SIZE=2|BACKENDAI_CLUSTER_HOSTS=main1,sub1|BACKENDAI_CLUSTER_LOCAL_RANK="

static struct arena arena;

/** An environment, with '|' between the entries, and what the user wants. */
struct given {
	const char *env;
	struct input input;
	struct wants wants;
	/** --set of these, with '|' between. */
	const char *set;
};

struct outcome {
	struct env env;
	struct notes notes;
	struct flow flow;
	struct err err;
	int r;
};

static struct setting option(const char *value, const char *name) {
	return (struct setting){value, name, *name == '-' ? BY_COMMAND_LINE : BY_VARIABLE};
}

static struct outcome *begin(const struct given *g) {
	struct outcome *out = arena_alloc(&arena, sizeof(*out));
	*out = (struct outcome){.notes = {.arena = &arena}};
	fixture_env(&out->env, &arena, g->env ? g->env : "", '|');
	flow_init(&out->flow, &arena, &out->env, &out->notes);
	struct input in = g->input;
	in.arena = out->flow.input.arena;
	in.env = out->flow.input.env;
	in.notes = out->flow.input.notes;
	in.hostname = in.hostname ? in.hostname : "here";
	out->flow.input = in;
	out->flow.wants = g->wants;
	out->flow.wants.options = (struct directives){.arena = &arena};
	for (char **set = fixture_split(&arena, g->set ? g->set : "", '|'); *set; set++) {
		static const struct origin by = {.by = "--set"};
		size_t column;
		directive_add(&out->flow.wants.options, VERB_SET, str_of(*set), &by, &column, &out->err);
	}
	return out;
}

static struct outcome *run(const struct given *g) {
	struct outcome *out = begin(g);
	out->r = flow_derive(&out->flow, &out->err);
	return out;
}

static const char *value_of(const struct outcome *out, const char *name) {
	return env_get(&out->env, name);
}

/** A file of @text, that the caller removes. */
static const char *file_of(const char *text) {
	static unsigned number;
	char *path = arena_format(&arena, "/tmp/test-flow.%d.%u", (int)getpid(), number++);
	FILE *file = fopen(path, "we");
	if (file) {
		(void)fputs(text, file);
		(void)fclose(file);
	}
	return path;
}

static void check_derived(void) {
	struct outcome *out = run(&(struct given){.env = PAIR "1"});
	check(out->r == 0 && out->flow.has_cluster);
	check_text(value_of(out, "MASTER_ADDR"), "main1", "derive: a cluster of two");
	check_text(value_of(out, "PET_NODE_RANK"), "1", "derive: this is the second");

	out = run(&(struct given){.env = PAIR "1", .wants = {.no_cluster = true}});
	check(out->r == 0 && !out->flow.has_cluster);
	check_text(value_of(out, "MASTER_ADDR"), NULL, "derive: --cluster=none");

	out = run(&(struct given){.env = PAIR "1", .wants = {.frameworks = option("jax", "--frameworks")}});
	check_text(value_of(out, "MASTER_ADDR"), NULL, "derive: torch is not asked for");
	check_text(value_of(out, "JAX_PROCESS_ID"), "1", "derive: jax is");

	out = run(&(struct given){.env = PAIR "1",
				  .wants = {.frameworks = option("torchrum", "--frameworks")}});
	check(out->r == -EINVAL);
	check_part(out->err.text, "did you mean 'torchrun'", "derive: an unknown framework");
}

static void check_lenient(void) {
	struct outcome *out = run(&(struct given){.env = PAIR "7"});
	check(out->r == -EINVAL);
	check_part(out->err.text, "BACKENDAI_CLUSTER_LOCAL_RANK=7", "a broken cluster is an error");

	out = run(&(struct given){.env = PAIR "7", .wants = {.lenient = true}});
	check(out->r == 0 && !out->flow.has_cluster);
	check_part(out->flow.broken, "BACKENDAI_CLUSTER_LOCAL_RANK=7", "lenient: why it is broken");
	check_part(fixture_notes(&out->notes), "nothing is derived", "lenient: a note says it");
	check_text(value_of(out, "MASTER_ADDR"), NULL, "lenient: nothing is derived");

	out = run(&(struct given){.env = PAIR "1",
				  .input = {.cluster = option("slurn", "--cluster")},
				  .wants = {.lenient = true}});
	check(out->r == -ENOENT);
	check_part(out->err.text, "did you mean 'slurm'", "lenient: a wrong name is an error all the same");
}

/** Each place of directives wins over those before it; the application's over the job's. */
static void check_order(void) {
	const char *first = file_of("set A=file\nset B=file\nset C=file\nset D=file\n[app x]\nset E=app\n");
	const char *second = file_of("set C=second\nset D=second\n[app y]\nset F=other\n");
	const char *paths[] = {second, NULL};
	struct outcome *out = run(&(struct given){
		.env = "E=inherited|F=inherited",
		.wants = {.bundle = "set A=bundle",
			  .variable_files = {first, "DISTINIT_ENV_FILE", BY_VARIABLE},
			  .variable_lines = "set B=lines\nset C=lines\nset D=lines\nset E=lines",
			  .option_files = paths,
			  .n_option_files = 1,
			  .app = {.value = "x"}},
		.set = "D=option",
	});
	check(out->r == 0);
	check_text(value_of(out, "A"), "file", "order: a variable's file, after the bundle");
	check_text(value_of(out, "B"), "lines", "order: a variable's lines, after its files");
	check_text(value_of(out, "C"), "second", "order: an option's file, after the variables");
	check_text(value_of(out, "D"), "option", "order: an option, last");
	check_text(value_of(out, "E"), "app", "order: the application's section, after the job's lines");
	check_text(value_of(out, "F"), "inherited", "order: another application's section is not read");

	out = run(&(struct given){.env = PAIR "1", .wants = {.variable_lines = "set MASTER_ADDR=mine"}});
	check_text(value_of(out, "MASTER_ADDR"), "mine", "order: directives, after what is derived");

	out = run(&(struct given){.wants = {.variable_files = {.value = "/no/such:file"}}});
	check(out->r < 0);
	check_part(out->err.text, "/no/such", "order: a file that is missing is an error");
	unlink(first);
	unlink(second);
}

static void check_refused(const char *want, struct input input) {
	struct outcome *out = run(&(struct given){.input = input});
	check(out->r == -EINVAL);
	check_part(out->err.text, want, "refused: %s", want);
}

static void check_told(void) {
	check_refused(
		"--hosts and --hostfile contradict",
		(struct input){.hosts = option("a,b", "--hosts"), .hostfile = option("/f", "--hostfile")});
	check_refused(
		"--hosts and --cluster='slurm' contradict",
		(struct input){.hosts = option("a,b", "--hosts"), .cluster = option("slurm", "--cluster")});
	const struct input node_rank = {.node_rank = option("1", "--node-rank")};
	struct outcome *out = run(&(struct given){.env = PAIR "0", .input = node_rank});
	check_part(out->err.text, "--node-rank=1, but backendai says that this is node 0",
		   "refused: --node-rank, where a manager tells another");
	check(run(&(struct given){.env = PAIR "1", .input = node_rank})->r == 0);
	check(run(&(struct given){.input = node_rank})->r == 0);
	check_refused("--nnodes=0", (struct input){.nnodes = option("0", "--nnodes")});
	check_refused("--nnodes='x'", (struct input){.nnodes = option("x", "--nnodes")});
	check_refused("--master-port='0'", (struct input){.master_port = option("0", "--master-port")});
	check_refused("one host is expected", (struct input){.master_addr = option("a,b", "--master-addr")});

	const char *host = NULL;
	struct err err;
	check(host_read(&arena, "X", "[fe80::1]", &host, &err) == 0);
	check_text(host, "fe80::1", "an address loses its brackets");
	check(setting_by_option(&(struct setting){"a", "--hosts", BY_COMMAND_LINE}));
	check(!setting_by_option(&(struct setting){"a", "DISTINIT_HOSTS"}));
	check(!setting_by_option(&(struct setting){0}));
}

/** "action NAME=value (by)" for each change, with "; " between. */
static const char *changes_of(struct outcome *out, bool secrets) {
	struct change *list;
	uint32_t n = flow_changes(&out->flow, secrets, SIZE_MAX, &list);
	struct buf buf = BUF(&arena);
	for (uint32_t i = 0; i < n; i++) {
		buf_putf(&buf, "%s%s %s%s%s (%s)", i ? "; " : "", list[i].action, list[i].name,
			 list[i].value ? "=" : "", list[i].value ? list[i].value : "", list[i].by);
	}
	return buf_text(&buf);
}

static void check_changes(void) {
	struct outcome *out = run(&(struct given){
		.env = PAIR "0|MASTER_PORT=1234|GONE=1",
		.wants = {.frameworks = option("torch", "--frameworks"), .variable_lines = "unset GONE"},
		.set = "API_TOKEN=hunter2"});
	check_text(
		changes_of(out, false),
		"unset GONE (DISTINIT_ENV:1); set MASTER_ADDR=main1 (torch); set API_TOKEN=******** (--set); "
		"kept MASTER_PORT=1234 (user); left-out RANK (torch); left-out WORLD_SIZE (torch); left-out "
		"LOCAL_RANK (torch); left-out LOCAL_WORLD_SIZE (torch)",
		"changes: each with who made it");
	check_part(changes_of(out, true), "API_TOKEN=hunter2", "changes: secrets, where they are asked for");

	out = run(&(struct given){.env = PAIR "0|TF_CONFIG=[",
				  .wants = {.frameworks = option("tensorflow", "--frameworks")}});
	check_text(changes_of(out, false), "kept TF_CONFIG=[ (user)", "changes: a user's TF_CONFIG is kept");
	check_part(fixture_notes(&out->notes), "is passed on as it is",
		   "changes: but a broken one gets a note");
}

static const char *pointless(const char *env, bool asked) {
	struct outcome *out = run(&(struct given){.env = env});
	return out->r == 0 ? master_why_not(&out->flow, asked) : "an error";
}

static void check_master(void) {
	check_text(pointless("", false), "no cluster", "master: no cluster");
	check_text(pointless("MASTER_ADDR=a", false), "no cluster", "master: set, but no cluster");
	check_text(pointless("MASTER_ADDR=a", true), NULL, "master: set, and asked for");
	check_text(pointless(PAIR "0", false), "this is the master's node", "master: this is it");
	check_text(pointless(PAIR "1", false), NULL, "master: this waits for it");

	struct err err;
	const char *host = NULL;
	uint16_t port = 0;
	struct outcome *out = run(&(struct given){.env = PAIR "1"});
	check(master_host(&out->flow, &host, &err) == 0 && master_port(&out->flow, &port, &err) == 0);
	check_text(host, "main1", "master: the host");
	check(port == 29500);
	out = run(&(struct given){.env = PAIR "1|MASTER_PORT=tcp://10.0.0.1:80"});
	check(master_port(&out->flow, &port, &err) == 0 && port == 29500);
	out = run(&(struct given){.env = "MASTER_ADDR=a,b"});
	check(master_host(&out->flow, &host, &err) == -EINVAL);
	out = run(&(struct given){.env = ""});
	check(master_host(&out->flow, &host, &err) == -EINVAL);
	check_part(err.text, "--master-addr", "master: the way out where it is not told");
	check(master_port(&out->flow, &port, &err) == -EINVAL);
}

/** As a user that is already ours nothing changes, and the identity is set all the same where it is missing. */
static void check_identity(void) {
	const char *self = arena_format(&arena, "%u", (unsigned)geteuid());
	struct wants as_self = {.privileges = {.user = option(self, "--user")}};
	struct outcome *out = run(&(struct given){.env = "HOME=/mine", .wants = as_self});
	check(out->r == 0 && out->flow.wishes.any);
	check_text(value_of(out, "HOME"), "/mine", "identity: a HOME of the user's own stays");
	struct wants nothing = {0};
	out = run(&(struct given){.wants = nothing});
	check(out->r == 0 && !out->flow.wishes.any && out->flow.access.workload == RIGHTS_SAME);
	check(privileges_drop(&out->flow, &out->err) == 0);
	struct wants nobody = {.privileges = {.user = option("no-such-user", "--user")}};
	out = run(&(struct given){.wants = nobody});
	check(out->r == -EINVAL);
	check_part(out->err.text, "no-such-user", "identity: an unknown user is an error");
	check(out->flow.access.workload == RIGHTS_UNKNOWN);
}

int main(void) {
	arena = fixture_arena();
	check_derived();
	check_lenient();
	check_order();
	check_told();
	check_changes();
	check_master();
	check_identity();
	arena_done(&arena);
	return check_done();
}
