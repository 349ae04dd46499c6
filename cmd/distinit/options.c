// SPDX-License-Identifier: Apache-2.0

#include "distinit/options.h"

#include "base/secret.h"

#include <errno.h>

#define DERIVE	(CMD_RUN | CMD_ENV | CMD_EXPLAIN | CMD_WAIT | CMD_CHECK)
#define TALK	(DERIVE | CMD_HOSTS | CMD_INSTALL | CMD_BUNDLE)
#define CLUSTER (DERIVE | CMD_HOSTS | CMD_ENGINE)
#define ANY	(TALK | CMD_TABLE)
#define ROLL	(CMD_RUN | CMD_WAIT)

#define VERB(word, letter, verb, argument, help) \
	{ word, letter, OPT_VERBS + (verb), TAKES_TEXT, DERIVE, false, argument, help }
/** Another name of a directive, which --help does not show. The argument's name is for error messages. */
#define ALIAS(word, letter, verb, takes) \
	{ word, letter, OPT_VERBS + (verb), takes, DERIVE, false, "NAME[c] VALUE", NULL }

static const struct option options[] = {
	OPTION_HEAD(ANY, "Cluster"),
	{"cluster", 0, OPT_CLUSTER, TAKES_TEXT, CLUSTER, true, "NAME",
	 "the cluster manager: auto, none, or a name of 'distinit managers' (default: auto)",
	 "auto none @managers"},
	{"hosts", 0, OPT_HOSTS, TAKES_TEXT, CLUSTER, true, "HOSTLIST",
	 "the hosts of the cluster, such as n[1-4] or a,b"},
	{"hostfile", 0, OPT_HOSTFILE, TAKES_TEXT, CLUSTER, true, "FILE",
	 "the hosts, one per line: n1, n1 slots=8, n1:8 or n1 8"},
	{"read", 0, OPT_READ, TAKES_TEXT, CLUSTER, true, "FIELDS",
	 "a manager by its variables: 'hosts=ACME_NODES node-rank=ACME_INDEX'"},
	{"node-rank", 0, OPT_NODE_RANK, TAKES_TEXT, CLUSTER, true, "N",
	 "this node in --hosts, --hostfile or --read, from 0 (default: found by this host's name or "
	 "address); or of --nnodes"},
	{"nnodes", 0, OPT_NNODES, TAKES_TEXT, CLUSTER, true, "N",
	 "the number of nodes, if the manager does not set it; or with --node-rank and --master-addr"},
	{"master-addr", 0, OPT_MASTER_ADDR, TAKES_TEXT, CLUSTER, true, "HOST",
	 "the rendezvous host; MASTER_ADDR in the environment overrides it"},
	{"master-port", 0, OPT_MASTER_PORT, TAKES_TEXT, CLUSTER, true, "PORT",
	 "the rendezvous port; MASTER_PORT in the environment overrides it"},
	{"scope", 0, OPT_SCOPE, TAKES_TEXT, CLUSTER, true, "SCOPE",
	 "what this process is: auto (default), node (one process per node), allocation (a job script)",
	 "auto node allocation"},
	{"lenient", 0, OPT_LENIENT, TAKES_FLAG, CLUSTER, true, NULL,
	 "if a manager's variables are invalid, warn and derive nothing (default: an error)"},
	OPTION_HEAD(ANY, "Variables"),
	{"frameworks", 0, OPT_FRAMEWORKS, TAKES_TEXT, DERIVE | CMD_ENGINE, true, "LIST",
	 "derive the variables of these: all, none, or names of 'distinit frameworks' (default: "
	 "torch,torchrun,tensorflow)",
	 "all none @frameworks"},
	{"tf-roles", 0, OPT_TF_ROLES, TAKES_TEXT, DERIVE | CMD_ENGINE, true, "LIST",
	 "roles of the first tasks in TF_CONFIG, such as chief:1,ps:2; the rest are workers"},
	{"hostfile-output", 0, OPT_HOSTFILE_OUTPUT, TAKES_TEXT, DERIVE, true, "FILE",
	 "write the host file of the frameworks mpi, mpich, horovod, deepspeed here"},
	{"ranks", 0, OPT_RANKS, TAKES_TEXT, DERIVE | CMD_ENGINE, true, "WHEN",
	 "set RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE: auto (default: in ranks that a launcher "
	 "started), always, never",
	 "auto always never"},
	VERB("set", 'e', VERB_SET, "NAME=VALUE", "set a variable, replacing the old value"),
	VERB("add", 0, VERB_ADD, "NAME=VALUE", "set a variable, unless it exists, even empty"),
	VERB("unset", 'u', VERB_UNSET, "NAME", "remove a variable; 'NAME*' removes all that begin with NAME"),
	VERB("prepend", 0, VERB_PREPEND, "NAME=VALUE",
	     "put VALUE and ':' in front; 'NAME[;]=VALUE' uses the separator ';'"),
	VERB("append", 0, VERB_APPEND, "NAME=VALUE", "put ':' and VALUE at the end"),
	VERB("first", 0, VERB_FIRST, "NAME=VALUE",
	     "make VALUE the first element, and remove its other copies"),
	{"clean", 0, OPT_VERBS + VERB_CLEAN, TAKES_FLAG, DERIVE, false, NULL,
	 "start with an empty environment"},
	VERB("pass", 'x', VERB_PASS, "NAME",
	     "after --clean, keep a variable; 'NAME*' keeps all that begin with NAME"),
	ALIAS("set-env", 0, VERB_SET, TAKES_TEXT),
	ALIAS("unset-env", 0, VERB_UNSET, TAKES_TEXT),
	ALIAS("prepend-env", 0, VERB_PREPEND, TAKES_PAIR),
	ALIAS("append-env", 0, VERB_APPEND, TAKES_PAIR),
	{"env-file", 0, OPT_ENV_FILE, TAKES_EACH, DERIVE, true, "FILE",
	 "read directives from FILE, one per line (DISTINIT_ENV_FILE: files joined by ':')"},
	{NULL, 0, OPT_ENV_LINES, TAKES_TEXT, DERIVE, true, NULL, NULL},
	{"bundle", 0, OPT_BUNDLE, TAKES_TEXT, DERIVE, true, "TEXT", NULL},
	{"app", 0, OPT_APP, TAKES_TEXT, DERIVE, true, "NAME",
	 "also apply the [app NAME] sections of directive files"},
	{"keep-config", 0, OPT_KEEP_CONFIG, TAKES_FLAG, DERIVE, true, NULL,
	 "keep the DISTINIT_* variables in the command's environment"},
	{"options-from", 0, OPT_OPTIONS_FROM, TAKES_TEXT, CLUSTER, false, "WHERE",
	 "all (default), or command-line: ignore DISTINIT_* variables", "command-line all"},
	OPTION_HEAD(ANY, "Words of the command"),
	{"fill", 0, OPT_FILL, TAKES_FLAG, CMD_RUN | CMD_EXPLAIN | CMD_CHECK, true, NULL,
	 "fill {nnodes}, {node-rank}, {master} and others in the words of COMMAND"},
	OPTION_HEAD(ANY, "User and privileges"),
	{"user", 0, OPT_USER, TAKES_TEXT, DERIVE, true, "USER[:GROUP]",
	 "run as this user, by name or number; sets HOME, USER, LOGNAME", "@users"},
	{"groups", 0, OPT_GROUPS, TAKES_TEXT, DERIVE, true, "WHICH",
	 "supplementary groups: init (from /etc/group), keep, none (default: init; with :GROUP, none)",
	 "init keep none"},
	{"cap-drop", 0, OPT_CAP_DROP, TAKES_LIST, DERIVE, true, "LIST",
	 "drop these capabilities, or all, permanently", "all @capabilities"},
	{"cap-keep", 0, OPT_CAP_KEEP, TAKES_LIST, DERIVE, true, "LIST",
	 "keep these capabilities, for users other than root too: ipc_lock,sys_nice", "@capabilities"},
	{"no-new-privs", 0, OPT_NO_NEW_PRIVS, TAKES_FLAG, DERIVE, true, NULL,
	 "no executed program gains privileges, such as by setuid"},
	OPTION_HEAD(ANY, "Waiting and roll call"),
	{"wait", 0, OPT_WAIT, TAKES_OPTIONAL, CMD_RUN, true, "DURATION",
	 "before COMMAND, wait until the master can be reached; the timeout is 5m by default (for all: 10m)"},
	{"for", 0, OPT_FOR, TAKES_TEXT, CMD_RUN | CMD_WAIT, true, "WHAT",
	 "wait until the master's port answers (tcp, default), its name resolves (dns, default of 'distinit "
	 "wait'), or all are there and agree (all, the roll call)",
	 "tcp dns all"},
	{"check", 0, OPT_CHECK, TAKES_OPTIONAL, CMD_RUN, true, "LEVEL",
	 "before COMMAND, compare this node with what was promised to it, as 'distinit check' does; findings "
	 "(default), or hints too, end it with 125",
	 "findings hints"},
	{"expect", 0, OPT_EXPECT, TAKES_TEXT, CMD_RUN | CMD_CHECK | CMD_EXPLAIN, true, "LIST",
	 "what this node has to have, or nothing starts (turns --check on): gpus=8, rdma>=8, cpus>=64, memory>=900GiB, "
	 "shm>=64GiB, memlock=unlimited, nofile>=65536, mtu>=9000, driver>=550, clock<=2s, path=/ckpt, path:ro=/data; "
	 "join several by ','"},
	{"clear", 0, OPT_CLEAR, TAKES_LIST, CMD_RUN, true, "GLOB",
	 "before each start of COMMAND, remove the files that a killed run left and that no process uses "
	 "(/dev/shm/nccl-*); join several by ','"},
	{"agree", 0, OPT_AGREE, TAKES_TEXT, ROLL, true, "LIST",
	 "nothing starts if nodes differ in these: world (always), program, env, devices, limits, all",
	 "all world program env devices limits"},
	{"agree-env", 0, OPT_AGREE_ENV, TAKES_TEXT, ROLL | CMD_CHECK, true, "NAMES",
	 "the variables to compare, joined by ':'; 'NAME*' means all that begin with NAME"},
	{"job", 0, OPT_JOB, TAKES_TEXT, ROLL, true, "NAME",
	 "the job's name in the roll call, so that jobs on the same hosts are not mixed up"},
	{"secret-file", 0, OPT_SECRET_FILE, TAKES_TEXT, ROLL, true, "FILE",
	 "the first line of FILE is the roll call's secret; or set DISTINIT_SECRET"},
	{"secret-required", 0, OPT_SECRET_REQUIRED, TAKES_FLAG, ROLL, true, NULL,
	 "refuse a roll call without a secret"},
	{"secret", 0, OPT_SECRET, TAKES_TEXT, CMD_NONE, true, NULL, NULL},
	// distrun starts distinit in a container with it.
	{"carried", 0, OPT_CARRIED, TAKES_FLAG, CMD_RUN, false, NULL, NULL},
	{"derived", 0, OPT_DERIVED, TAKES_TEXT, CMD_ENGINE, true, NULL, NULL},
	{"timeout", 0, OPT_TIMEOUT, TAKES_TEXT, CMD_WAIT, false, "DURATION",
	 "wait at most this long (default: DISTINIT_WAIT, or 5m; for all: 10m)"},
	OPTION_HEAD(ANY, "Staying as the parent"),
	{"init", 0, OPT_INIT, TAKES_FLAG, CMD_RUN, true, NULL,
	 "stay as the command's parent: forward signals, reap orphans, return its status"},
	{"kill-group", 0, OPT_KILL_GROUP, TAKES_FLAG, CMD_RUN, true, NULL,
	 "forward signals to the command's process group"},
	{"signal", 0, OPT_SIGNAL, TAKES_LIST, CMD_RUN, true, "FROM:TO",
	 "forward one signal as another (TERM:INT), or drop it (TERM:0); join pairs by ','", "@pairs"},
	{"map-exit", 0, OPT_MAP_EXIT, TAKES_LIST, CMD_RUN, true, "FROM:TO",
	 "replace exit status FROM by TO (143:0), for distinit's own statuses without --init, too; "
	 "FROM may be early (0, if nobody asked it to end) or told (0 after TERM); join pairs by ','"},
	{"grace", 0, OPT_GRACE, TAKES_TEXT, CMD_RUN, true, "DURATION",
	 "kill the command this long after the first TERM, or never (default: never; after --time-limit: "
	 "30s)"},
	{"leftovers", 0, OPT_LEFTOVERS, TAKES_TEXT, CMD_RUN, true, "WHAT",
	 "end or leave the processes that the command leaves behind (default: end as PID 1 and with "
	 "--together or --max-restarts, else leave)",
	 "end leave"},
	{"leftovers-grace", 0, OPT_LEFTOVERS_GRACE, TAKES_TEXT, CMD_RUN, true, "DURATION",
	 "kill these processes this long after TERM (default: 2s)"},
	{"pdeathsig", 0, OPT_PDEATHSIG, TAKES_TEXT, CMD_RUN, true, "SIGNAL",
	 "send this signal to the command if distinit is killed", "@signals"},
	{"time-limit", 0, OPT_TIME_LIMIT, TAKES_TEXT, CMD_RUN, true, "DURATION",
	 "end the command after this time, with status 124 (implies --init)"},
	{"progress", 0, OPT_PROGRESS, TAKES_TEXT, CMD_RUN, true, "FILE:DURATION",
	 "with --init: if FILE (/ckpt/log*) is not written for DURATION, end the command, with status 124; "
	 "the first write may take twice as long"},
	{"together", 0, OPT_TOGETHER, TAKES_OPTIONAL, CMD_RUN, true, "LIST",
	 "if one node fails or gets TERM, end all nodes; implies --init --wait --for=all; LIST: failures "
	 "(not "
	 "by TERM), workers (also if a child of COMMAND fails), always (also if COMMAND exits with 0), or a "
	 "port",
	 "failures workers always"},
	{"max-restarts", 0, OPT_MAX_RESTARTS, TAKES_TEXT, CMD_RUN, true, "N",
	 "if COMMAND fails, start it again in place, at most N times, or unlimited; implies --init; with "
	 "--together all nodes start again"},
	{"no-restart", 0, OPT_NO_RESTART, TAKES_TEXT, CMD_RUN, true, "LIST",
	 "with --max-restarts: exit statuses and signals after which COMMAND does not start again (17,93,SIGSEGV)",
	 "@signals"},
	{"max-idle-starts", 0, OPT_MAX_IDLE_STARTS, TAKES_TEXT, CMD_RUN, true, "N",
	 "with --max-restarts and --progress: after N starts in a row that wrote none of these files, COMMAND does not "
	 "start again (default: 3; 0: no limit)"},
	// distinit sets this variable for the command.
	{"restart-count", 0, OPT_RESTART_COUNT, TAKES_TEXT, CMD_NONE, true, NULL, NULL},
	{"linger", 0, OPT_LINGER, TAKES_TEXT, CMD_RUN, true, "DURATION",
	 "on the master, wait this long for the other nodes' end (default: 60s)"},
	OPTION_HEAD(ANY, "This subcommand"),
	{"format", 0, OPT_FORMAT, TAKES_TEXT, CMD_ENV | CMD_WAIT, false, "FORMAT",
	 "shell (default), docker, json, null", "shell docker json null"},
	{"format", 0, OPT_FORMAT, TAKES_TEXT, CMD_EXPLAIN | CMD_CHECK | CMD_LIST, false, "FORMAT",
	 "text (default) or json", "text json"},
	{"color", 0, OPT_COLOR, TAKES_TEXT, CMD_EXPLAIN | CMD_CHECK, true, "WHEN",
	 "auto (default: on a terminal, without NO_COLOR), always, never", "auto always never"},
	{"all-nodes", 0, OPT_ALL_NODES, TAKES_FLAG, CMD_EXPLAIN, false, NULL,
	 "show the variables of each node: common ones once, the others by node"},
	{"all", 0, OPT_ALL, TAKES_FLAG, CMD_ENV, false, NULL,
	 "print all variables, not only new and changed ones"},
	{"output", 'o', OPT_OUTPUT, TAKES_TEXT, CMD_ENV | CMD_BUNDLE | CMD_WAIT, false, "FILE",
	 "write to FILE, atomically"},
	{"mode", 0, OPT_MODE, TAKES_TEXT, CMD_ENV | CMD_WAIT, false, "MODE",
	 "the permissions of --output's file (default: 0600)"},
	{"show-secrets", 0, OPT_SHOW_SECRETS, TAKES_FLAG, CMD_EXPLAIN, false, NULL,
	 "do not mask values that look secret"},
	{"track", 0, OPT_TRACK, TAKES_TEXT, CMD_BUNDLE, true, "NAMES",
	 "the variables to write, joined by ':'; 'NAME*' means all that begin with NAME"},
	{"force", 0, OPT_FORCE, TAKES_FLAG, CMD_BUNDLE, false, NULL,
	 "also write variables of a worker's host or rank, such as HOSTNAME or RANK"},
	{"carry-unset", 0, OPT_CARRY_UNSET, TAKES_FLAG, CMD_BUNDLE, false, NULL,
	 "for a tracked name that is not set, write an 'unset' line"},
	{"as", 0, OPT_AS, TAKES_TEXT, CMD_INSTALL, false, "NAME",
	 "the name of the copy, such as tini or gosu: under this name it replaces that program",
	 "distinit @names"},
	{"count", 0, OPT_COUNT, TAKES_FLAG, CMD_HOSTS, false, NULL, "print the number of hosts"},
	{"first", 0, OPT_FIRST, TAKES_FLAG, CMD_HOSTS, false, NULL, "print the first host only"},
	{"nth", 0, OPT_NTH, TAKES_TEXT, CMD_HOSTS, false, "N", "print host N only, from 0"},
	{"compress", 0, OPT_COMPRESS, TAKES_FLAG, CMD_HOSTS, false, NULL,
	 "print one host list, such as n[1-4]"},
	OPTION_HEAD(ANY, "Messages and tests"),
	{"dry-run", 0, OPT_DRY_RUN, TAKES_FLAG, CMD_RUN, false, NULL,
	 "start nothing, and show what would be done, as 'distinit explain' with the same words does"},
	{"log", 0, OPT_LOG, TAKES_TEXT, TALK, true, "LEVEL",
	 "which messages are printed: error, warn (default), info, debug", "error warn info debug"},
	{"quiet", 'q', OPT_QUIET, TAKES_FLAG, TALK, false, NULL, "--log=error"},
	{"verbose", 'v', OPT_VERBOSE, TAKES_FLAG, TALK, false, NULL, "--log=info; twice: --log=debug"},
	{"report", 0, OPT_REPORT, TAKES_TEXT, CMD_RUN | CMD_WAIT, true, "FILE",
	 "append a line of JSON to FILE for each event"},
	{"why", 0, OPT_WHY, TAKES_FLAG, CMD_ENGINE, true, NULL, NULL},
	{"root", 0, OPT_ROOT, TAKES_TEXT, CLUSTER, true, "DIR",
	 "read the files of managers, users and groups under DIR instead of /"},
	{"hostname", 0, OPT_HOSTNAME, TAKES_TEXT, CLUSTER, true, "NAME",
	 "this host's name (default: the kernel's)"},
	{"help", 'h', OPT_HELP, TAKES_OPTIONAL, ANY, false, "WORD",
	 "print this help; without a subcommand, WORD is all, a subcommand or an option", "all @subcommands"},
	{"version", 'V', OPT_VERSION, TAKES_FLAG, ANY, false, NULL, "print the version"},
	{0},
};

/** Add a directive. @next: the word after it, for pairs and for a hint. Returns 0 or a negative errno. */
static int take_directive(struct directives *out, const struct option *o, const char *value, const char *next,
			  struct err *err) {
	enum verb verb = (enum verb)(o->id - OPT_VERBS);
	struct origin *by = arena_alloc(out->arena, sizeof(*by));
	*by = (struct origin){.by = arena_format(out->arena, "--%s", o->name)};
	size_t column, equals = str_find(str_of(value), '=');
	int r = 0;
	if (o->takes == TAKES_TEXT && equals > 0 && value[equals] && value[equals - 1] == '+') {
		// It would set a variable called "PATH+".
		return err_set(err, EINVAL, "--%s: %s: there is no '+='; write --append %.*s=VALUE", o->name,
			       quote((struct str){value, equals + 1}).s, (int)equals - 1, value);
	}
	if (o->takes == TAKES_PAIR) {
		r = directive_add_pair(out, verb, str_of(value), str_of(next), by, err);
	} else {
		r = directive_add(out, verb, str_of(value), by, &column, err);
	}
	if (r == 0) {
		return 0;
	}
	struct err cause = *err;
	bool takes_value = verb != VERB_UNSET && verb != VERB_PASS;
	bool habit = takes_value && o->takes == TAKES_TEXT && !strchr(value, '=') && next && next[0] != '-';
	if (habit) {
		const char *word = arena_format(out->arena, "%s=%s", value, next);
		return err_set(err, -r, "--%s: %s; write --%s %s", o->name, cause.text, o->name,
			       secret_text(out->arena, word));
	}
	return err_set(err, -r, "--%s: %s", o->name, cause.text);
}

static int take_ordered(void *context, const struct option *o, const char *value, const char *next,
			struct err *err) {
	struct overrides *out = context;
	if (o->id == OPT_ENV_FILE) {
		out->env_files[out->n_env_files++] = value;
		return 0;
	}
	return take_directive(&out->directives, o, value, next, err);
}

const char *options_fixed_privilege(const struct settings *settings) {
	for (unsigned id = OPT_USER; id <= OPT_NO_NEW_PRIVS; id++) {
		if (settings->given[id]) {
			return settings_label(settings, id);
		}
	}
	return NULL;
}

/**
 * The table's refuses(): the command line belongs to the image, and variables may come from a less trusted user, so an
 * option may forbid them.
 */
static const char *refuses(const struct settings *settings, const struct option *o) {
	const char *from = settings->value[OPT_OPTIONS_FROM];
	if (o && o->id == OPT_DERIVED) {
		return NULL; // distinit sets DISTINIT_DERIVED, not the user
	}
	if (from && strcmp(from, "command-line") == 0) {
		return "--options-from=command-line";
	}
	const char *fixed = o && o->id >= OPT_USER && o->id <= OPT_NO_NEW_PRIVS
				    ? options_fixed_privilege(settings)
				    : NULL;
	return fixed ? arena_format(settings->arena, "%s is on the command line", fixed) : NULL;
}

const struct option_table distinit_options = {
	.options = options,
	.program = "distinit",
	.prefix = "DISTINIT_",
	.unnamed = "env",
	.n_values = N_VALUES,
	.verbose = OPT_VERBOSE,
	.keep = OPT_KEEP_CONFIG,
	.passed_on = OPT_TRACK,
	.told = OPT_RESTART_COUNT,
	.underscores = true,
	.take = take_ordered,
	.refuses = refuses,
};

int options_read(struct settings *out, struct overrides *overrides, struct arena *arena, enum command command,
		 char **argv, struct err *err) {
	size_t words = 0;
	while (argv[words]) {
		words++;
	}
	*overrides = (struct overrides){
		.directives = {.arena = arena},
		.env_files = arena_array(arena, words, sizeof(*overrides->env_files)),
	};
	const unsigned taken = command & CMD_SHOWS_RUN ? command | CMD_RUN : command;
	return settings_read_words(out, arena, &distinit_options, taken, argv, overrides, err);
}
