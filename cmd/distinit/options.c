// SPDX-License-Identifier: Apache-2.0

#include "distinit/options.h"

#include "base/nearest.h"

#include <errno.h>

#define PREFIX "DISTINIT_"

#define DERIVE	(CMD_RUN | CMD_ENV | CMD_EXPLAIN | CMD_WAIT)
#define CLUSTER (DERIVE | CMD_HOSTS)
#define TALK	(CLUSTER | CMD_INSTALL | CMD_BUNDLE)
#define ANY	(TALK | CMD_TABLE)

#define VERB(word, letter, verb, argument, help) \
	{ word, letter, OPT_VERBS + (verb), TAKES_TEXT, DERIVE, false, argument, help }
#define ALIAS(word, letter, verb, takes) \
	{ word, letter, OPT_VERBS + (verb), takes, DERIVE, false, NULL, NULL }

const struct option options[] = {
	{"cluster", 0, OPT_CLUSTER, TAKES_TEXT, CLUSTER, true, "NAME",
	 "the cluster manager: auto, none, or a name of 'distinit sources' (default: auto)"},
	{"hosts", 0, OPT_HOSTS, TAKES_TEXT, CLUSTER, true, "HOSTLIST",
	 "a cluster told by hand, such as n[1-4] or a,b"},
	{"hostfile", 0, OPT_HOSTFILE, TAKES_TEXT, CLUSTER, true, "FILE",
	 "the same from a file: n1, n1 slots=8, n1:8 or n1 8 a line"},
	{"node-rank", 0, OPT_NODE_RANK, TAKES_TEXT, CLUSTER, true, "N",
	 "this node in --hosts or --hostfile, from 0 (default: found by this host's name or address)"},
	{"nnodes", 0, OPT_NNODES, TAKES_TEXT, CLUSTER, true, "N",
	 "how many nodes there are, where the manager does not tell it"},
	{"master-addr", 0, OPT_MASTER_ADDR, TAKES_TEXT, CLUSTER, true, "HOST",
	 "the rendezvous host, before anything derived; a set MASTER_ADDR stays"},
	{"master-port", 0, OPT_MASTER_PORT, TAKES_TEXT, CLUSTER, true, "PORT",
	 "the rendezvous port, 1 to 65535, before anything derived; a set MASTER_PORT stays"},
	{"scope", 0, OPT_SCOPE, TAKES_TEXT, CLUSTER, true, "SCOPE",
	 "what this process is: auto, node (one of us runs on each node), allocation (a job script, and no "
	 "rank)"},
	{"frameworks", 0, OPT_FRAMEWORKS, TAKES_TEXT, DERIVE, true, "LIST",
	 "whose variables to derive: all, none, or names of 'distinit frameworks' (default: "
	 "torch,torchrun,tensorflow)"},
	{"ranks", 0, OPT_RANKS, TAKES_TEXT, DERIVE, true, "WHEN",
	 "set RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE: auto (where a launcher started this process as "
	 "a rank), "
	 "always, never"},
	{"tf-roles", 0, OPT_TF_ROLES, TAKES_TEXT, DERIVE, true, "LIST",
	 "roles in TF_CONFIG of the first tasks, such as chief:1,ps:2; the rest are workers"},
	{"hostfile-output", 0, OPT_HOSTFILE_OUTPUT, TAKES_TEXT, DERIVE, true, "FILE",
	 "where to write the host file of the frameworks mpi, mpich, horovod, deepspeed"},
	{"lenient", 0, OPT_LENIENT, TAKES_FLAG, CLUSTER, true, NULL,
	 "where a manager's variables are broken, warn and derive nothing (default: an error)"},
	VERB("set", 'e', VERB_SET, "NAME=VALUE", "set, overwriting"),
	VERB("add", 0, VERB_ADD, "NAME=VALUE", "set, unless it is there (an empty one is)"),
	VERB("unset", 'u', VERB_UNSET, "NAME", "remove, if there; 'NAME*' removes all that begin so"),
	VERB("prepend", 0, VERB_PREPEND, "NAME=VALUE",
	     "put VALUE and a ':' in front; 'NAME[;]=VALUE': another separator"),
	VERB("append", 0, VERB_APPEND, "NAME=VALUE", "put a ':' and VALUE behind"),
	VERB("first", 0, VERB_FIRST, "NAME=VALUE", "make VALUE the first element, once"),
	{"clean", 0, OPT_VERBS + VERB_CLEAN, TAKES_FLAG, DERIVE, false, NULL, "start from nothing"},
	VERB("pass", 'x', VERB_PASS, "NAME", "after --clean, let this one through ('NAME*' too)"),
	ALIAS("set-env", 0, VERB_SET, TAKES_TEXT),
	ALIAS("unset-env", 0, VERB_UNSET, TAKES_TEXT),
	ALIAS("prepend-env", 0, VERB_PREPEND, TAKES_PAIR),
	ALIAS("append-env", 0, VERB_APPEND, TAKES_PAIR),
	{"env-file", 0, OPT_ENV_FILE, TAKES_TEXT, DERIVE, true, "FILE",
	 "directives from a file, a line each (DISTINIT_ENV_FILE: several, joined by ':')"},
	{NULL, 0, OPT_ENV_LINES, TAKES_TEXT, DERIVE, true, NULL, NULL},
	{"bundle", 0, OPT_BUNDLE, TAKES_TEXT, DERIVE, true, "TEXT", NULL},
	{"app", 0, OPT_APP, TAKES_TEXT, DERIVE, true, "NAME",
	 "take the [app NAME] sections of those files too"},
	{"keep-config", 0, OPT_KEEP_CONFIG, TAKES_FLAG, DERIVE, true, NULL,
	 "pass the DISTINIT_* variables on"},
	{"user", 0, OPT_USER, TAKES_TEXT, DERIVE, true, "USER[:GROUP]",
	 "run as this user, by name or number; sets HOME, USER, LOGNAME"},
	{"groups", 0, OPT_GROUPS, TAKES_TEXT, DERIVE, true, "WHICH",
	 "supplementary groups: init (those of /etc/group), keep, none (default: init, or none with :GROUP)"},
	{"cap-drop", 0, OPT_CAP_DROP, TAKES_LIST, DERIVE, true, "LIST",
	 "take these capabilities away for good, or all"},
	{"cap-keep", 0, OPT_CAP_KEEP, TAKES_LIST, DERIVE, true, "LIST",
	 "keep these, also for a user that is not root: --cap-keep=ipc_lock,sys_nice"},
	{"no-new-privs", 0, OPT_NO_NEW_PRIVS, TAKES_FLAG, DERIVE, true, NULL,
	 "no program that is run gains privileges, by setuid or otherwise"},
	{"wait", 0, OPT_WAIT, TAKES_OPTIONAL, CMD_RUN, true, "DURATION",
	 "before COMMAND, wait until the master can be reached, at most so long (default: 5m)"},
	{"for", 0, OPT_FOR, TAKES_TEXT, CMD_RUN, true, "WHAT",
	 "what to wait for: dns, that its name resolves, or tcp, that its port answers too (default: tcp)"},
	{"for", 0, OPT_FOR, TAKES_TEXT, CMD_WAIT, true, "WHAT",
	 "dns, that the master's name resolves (default), or tcp, that its port answers too"},
	{"timeout", 0, OPT_TIMEOUT, TAKES_TEXT, CMD_WAIT, false, "DURATION",
	 "how long at most (default: 5m, or what DISTINIT_WAIT says)"},
	{"init", 0, OPT_INIT, TAKES_FLAG, CMD_RUN, true, NULL,
	 "stay as the command's parent: forward signals, reap orphans, end what is left"},
	{"kill-group", 0, OPT_KILL_GROUP, TAKES_FLAG, CMD_RUN, true, NULL,
	 "forward signals to the command's whole process group"},
	{"signal", 0, OPT_SIGNAL, TAKES_LIST, CMD_RUN, true, "FROM:TO",
	 "forward a signal as another, TERM:INT, or not at all, TERM:0; several, joined by ','"},
	{"map-exit", 0, OPT_MAP_EXIT, TAKES_LIST, CMD_RUN, true, "FROM:TO",
	 "exit with another status than the command, 143:0; several, joined by ','"},
	{"grace", 0, OPT_GRACE, TAKES_TEXT, CMD_RUN, true, "DURATION",
	 "how long what is told to end may take before it is killed (default: 5s)"},
	{"pdeathsig", 0, OPT_PDEATHSIG, TAKES_TEXT, CMD_RUN, true, "SIGNAL",
	 "the signal that the command gets if distinit dies"},
	{"time-limit", 0, OPT_TIME_LIMIT, TAKES_TEXT, CMD_RUN, true, "DURATION",
	 "end the command after this time, with status 124 (implies --init)"},
	{"format", 0, OPT_FORMAT, TAKES_TEXT, CMD_ENV, false, "FORMAT",
	 "shell (default), docker, json, null"},
	{"format", 0, OPT_FORMAT, TAKES_TEXT, CMD_EXPLAIN, false, "FORMAT", "text (default), json"},
	{"all", 0, OPT_ALL, TAKES_FLAG, CMD_ENV, false, NULL,
	 "the whole environment, not only what is new or changed"},
	{"track", 0, OPT_TRACK, TAKES_TEXT, CMD_BUNDLE, true, "NAMES",
	 "what to write: names joined by ':'; 'NAME*': all that begin so", .passed_on = true},
	{"force", 0, OPT_FORCE, TAKES_FLAG, CMD_BUNDLE, false, NULL,
	 "also what a worker has from its host or launcher, such as HOSTNAME or RANK"},
	{"carry-unset", 0, OPT_CARRY_UNSET, TAKES_FLAG, CMD_BUNDLE, false, NULL,
	 "of a name that is not set, write that it is to be removed"},
	{"output", 'o', OPT_OUTPUT, TAKES_TEXT, CMD_ENV | CMD_BUNDLE, false, "FILE",
	 "write to FILE, atomically"},
	{"show-secrets", 0, OPT_SHOW_SECRETS, TAKES_FLAG, CMD_EXPLAIN, false, NULL,
	 "do not mask variables whose names look secret"},
	{"count", 0, OPT_COUNT, TAKES_FLAG, CMD_HOSTS, false, NULL, "print the number of hosts"},
	{"first", 0, OPT_FIRST, TAKES_FLAG, CMD_HOSTS, false, NULL, "print the first host only"},
	{"nth", 0, OPT_NTH, TAKES_TEXT, CMD_HOSTS, false, "N", "print host N only, from 0"},
	{"compress", 0, OPT_COMPRESS, TAKES_FLAG, CMD_HOSTS, false, NULL,
	 "print one host list, such as n[1-4]"},
	{"log", 0, OPT_LOG, TAKES_TEXT, TALK, true, "LEVEL", "error, warn (default), info, debug"},
	{"verbose", 'v', OPT_VERBOSE, TAKES_FLAG, TALK, false, NULL, "--log=info; twice: --log=debug"},
	{"root", 0, OPT_ROOT, TAKES_TEXT, CLUSTER, true, "DIR",
	 "look for a manager's files under DIR instead of /"},
	{"hostname", 0, OPT_HOSTNAME, TAKES_TEXT, CLUSTER, true, "NAME",
	 "this host's name (default: the kernel's)"},
	{"help", 'h', OPT_HELP, TAKES_FLAG, ANY, false, NULL, "print this help"},
	{"version", 'V', OPT_VERSION, TAKES_FLAG, ANY, false, NULL, "print the version"},
	{0},
};

static bool is_end(const struct option *option) {
	return !option->name && !option->commands;
}

/** What the variable is named after. */
static const char *variable_name(const struct option *option) {
	return option->name ? option->name : "env";
}

/** Whether @suffix, what stands behind PREFIX, is the variable of @option. */
static bool variable_matches(const struct option *option, struct str suffix) {
	const char *name = variable_name(option);
	if (strlen(name) != suffix.len) {
		return false;
	}
	for (size_t i = 0; i < suffix.len; i++) {
		char c = name[i] == '-' ? '_' : (char)(name[i] - 'a' + 'A');
		if (c != suffix.p[i]) {
			return false;
		}
	}
	return true;
}

static char *variable_of(struct arena *arena, const char *name) {
	struct buf buf = BUF(arena);
	buf_puts(&buf, PREFIX);
	for (; *name; name++) {
		buf_putc(&buf, *name == '-' ? '_' : (char)(*name - 'a' + 'A'));
	}
	return buf_text(&buf);
}

const char *option_label(struct arena *arena, const struct settings *settings, enum option_id id) {
	for (const struct option *o = options; !is_end(o); o++) {
		if (o->id == id && o->name) {
			return settings->given[id] ? arena_format(arena, "--%s", o->name)
						   : variable_of(arena, o->name);
		}
	}
	return PREFIX "ENV";
}

/** Read "1", "yes", "true", "on" and their opposites. Returns 1, 0, or -EINVAL. */
static int read_flag(struct str value) {
	static const char words[] = "0 no false off 1 yes true on ";
	int index = 0;
	struct str rest = STR(words), word;
	while (str_cut(&rest, ' ', &word)) {
		if (word.len && str_eq(word, value)) {
			return index >= 4;
		}
		index++;
	}
	return -EINVAL;
}

/**
 * Take @value for @option; a flag that is on becomes "", and what is optional too where a flag's word stands for it.
 * Returns 0; -EINVAL for a flag that is neither on nor off.
 */
static int set_value(struct settings *out, const struct option *option, const char *value) {
	if (option->takes == TAKES_FLAG || option->takes == TAKES_OPTIONAL) {
		int on = value ? read_flag(str_of(value)) : 1;
		if (on >= 0) {
			value = on ? "" : NULL;
		} else if (option->takes == TAKES_FLAG) {
			return on;
		}
	}
	const char *before = out->value[option->id];
	if (option->takes == TAKES_LIST && before && out->given[option->id]) {
		value = arena_format(out->directives.arena, "%s,%s", before, value);
	}
	out->value[option->id] = value;
	return 0;
}

static int unknown_option(enum command command, const char *word, struct err *err) {
	struct nearest best = {.word = str_of(word[1] == '-' ? word + 2 : word + 1)};
	best.word.len = str_find(best.word, '=');
	for (const struct option *o = options; !is_end(o); o++) {
		if (o->name && (o->commands & command) && best.word.len > 1) {
			nearest_try(&best, o->name);
		}
	}
	return err_set(err, EINVAL, "unknown option %s%s; see --help", quote(str_of(word)).s,
		       nearest_hint(&best, "--").s);
}

/** Find the option that @word is. *@value is what stands in the same word, or NULL. */
static const struct option *find_option(enum command command, const char *word, const char **value) {
	struct str name = str_of(word + 2);
	name.len = str_find(name, '=');
	for (const struct option *o = options; !is_end(o); o++) {
		if (!o->name || !(o->commands & command)) {
			continue;
		}
		if (word[1] == '-' && str_is(name, o->name)) {
			*value = name.p[name.len] ? name.p + name.len + 1 : NULL;
			return o;
		}
		if (word[1] != '-' && o->letter && word[1] == o->letter) {
			*value = word[2] ? word + 2 : NULL;
			return o;
		}
	}
	return NULL;
}

/** Read one directive. @value is its argument, @next the word behind it (or NULL), for PAIR and for the hint. */
static int take_directive(struct settings *out, const struct option *o, const char *value, const char *next,
			  struct err *err) {
	enum verb verb = (enum verb)(o->id - OPT_VERBS);
	struct origin *by = arena_alloc(out->directives.arena, sizeof(*by));
	*by = (struct origin){.by = arena_format(out->directives.arena, "--%s", o->name)};
	size_t column;
	int r = 0;
	if (o->takes == TAKES_PAIR) {
		r = directive_add_pair(&out->directives, verb, str_of(value), str_of(next), by, err);
	} else {
		r = directive_add(&out->directives, verb, str_of(value), by, &column, err);
	}
	if (r == 0) {
		return 0;
	}
	struct err cause = *err;
	bool takes_value = verb != VERB_UNSET && verb != VERB_PASS;
	bool habit = takes_value && o->takes == TAKES_TEXT && !strchr(value, '=') && next && next[0] != '-';
	if (habit) {
		return err_set(err, -r, "--%s: %s; write --%s %s=%s", o->name, cause.text, o->name, value,
			       next);
	}
	return err_set(err, -r, "--%s: %s", o->name, cause.text);
}

/** Read the option at *@argv, and go on behind it. */
static int take_option(enum command command, char ***argv, struct settings *out, struct err *err) {
	const char *word = *(*argv)++;
	const char *value;
	const struct option *o = find_option(command, word, &value);
	if (!o) {
		return unknown_option(command, word, err);
	}
	bool letters = word[1] != '-' && o->takes == TAKES_FLAG && value;
	if (letters) {
		// -vv: the same letter again, and nothing else.
		for (; *value == o->letter; value++) {
			out->verbose += o->id == OPT_VERBOSE;
		}
		if (*value) {
			return unknown_option(command, word, err);
		}
		value = NULL;
	}
	if (o->takes != TAKES_FLAG && o->takes != TAKES_OPTIONAL && !value) {
		value = *(*argv);
		if (!value) {
			return err_set(err, EINVAL, "--%s needs %s behind it", o->name,
				       o->argument ? o->argument : "NAME[c] VALUE");
		}
		(*argv)++;
	}
	if (o->id == OPT_ENV_FILE) {
		out->env_files[out->n_env_files++] = value;
		return 0;
	}
	if (o->id < OPT_VERBS) {
		int r = set_value(out, o, value);
		out->given[o->id] = true;
		out->verbose += o->id == OPT_VERBOSE && option_is_on(out, OPT_VERBOSE);
		return r < 0 ? err_set(err, EINVAL, "%s: 1 or 0 is expected behind the '='",
				       quote(str_of(word)).s)
			     : 0;
	}
	if (o->takes == TAKES_FLAG && value) {
		return err_set(err, EINVAL, "--%s takes nothing behind it", o->name);
	}
	const char *next = *(*argv);
	if (o->takes == TAKES_PAIR) {
		if (!next) {
			return err_set(err, EINVAL, "--%s needs a name and a value behind it", o->name);
		}
		(*argv)++;
	}
	return take_directive(out, o, value ? value : "", next, err);
}

int options_parse(struct arena *arena, enum command command, char **argv, struct settings *out,
		  struct err *err) {
	*out = (struct settings){.directives = {.arena = arena}};
	size_t words = 0;
	while (argv[words]) {
		words++;
	}
	out->env_files = arena_array(arena, words, sizeof(*out->env_files));
	while (*argv && (*argv)[0] == '-' && (*argv)[1]) {
		if (strcmp(*argv, "--") == 0) {
			out->separated = true;
			argv++;
			break;
		}
		int r = take_option(command, &argv, out, err);
		if (r < 0) {
			return r;
		}
	}
	out->arguments = argv;
	return 0;
}

/** Say that @name is no setting, with what may have been meant. */
static void note_unknown(struct str name, struct arena *arena, struct notes *notes) {
	struct nearest best = {.word = str_from(name, sizeof(PREFIX) - 1)};
	for (const struct option *o = options; !is_end(o); o++) {
		if (o->id >= OPT_VERBS && o->help && variable_matches(o, best.word)) {
			notes_add(notes, "%s is no setting of distinit; write " PREFIX "ENV='%s%s%s'",
				  quote(name).s, o->name, o->argument ? " " : "",
				  o->argument ? o->argument : "");
			return;
		}
		if (o->variable) {
			nearest_try(&best, variable_of(arena, variable_name(o)) + sizeof(PREFIX) - 1);
		}
	}
	notes_add(notes, "%s is no setting of distinit%s", quote(name).s, nearest_hint(&best, PREFIX).s);
}

static const struct option *find_variable(struct str suffix) {
	for (const struct option *o = options; !is_end(o); o++) {
		if (o->variable && variable_matches(o, suffix)) {
			return o;
		}
	}
	return NULL;
}

/** The option whose variable @entry is; NULL where it is none of ours. *@unknown: but it looks like one. */
static const struct option *setting_of(const struct env_entry *entry, bool *unknown) {
	struct str name = env_entry_name(entry);
	bool ours = name.len > sizeof(PREFIX) - 1 && name.p[0] == PREFIX[0] &&
		    memcmp(name.p, PREFIX, sizeof(PREFIX) - 1) == 0;
	const struct option *option = ours ? find_variable(str_from(name, sizeof(PREFIX) - 1)) : NULL;
	*unknown = ours && !option;
	return option;
}

int options_read_variables(struct env *env, struct settings *settings, struct notes *notes, struct err *err) {
	bool any = false, unknown;
	bool read[N_VALUES] = {false};
	for (uint32_t i = 0; i < env->n; i++) {
		const struct env_entry *entry = &env->entries[i];
		const struct option *o = setting_of(entry, &unknown);
		if (unknown) {
			note_unknown(env_entry_name(entry), env->arena, notes);
		}
		if (!o) {
			continue;
		}
		// Of a doubled variable the first counts, as everywhere.
		bool again = read[o->id];
		any = read[o->id] = true;
		const char *value = env_entry_value(entry);
		if (*value && !again && !settings->given[o->id] && set_value(settings, o, value) < 0) {
			return err_set(err, EINVAL, "%.*s=%s: 1 or 0 is expected", (int)entry->name_len,
				       entry->text, quote(str_of(value)).s);
		}
	}
	for (uint32_t i = 0; any && !option_is_on(settings, OPT_KEEP_CONFIG) && i < env->n; i++) {
		const struct option *o = setting_of(&env->entries[i], &unknown);
		if (o && !o->passed_on) {
			env_unset(env, env_entry_name(&env->entries[i]), NULL);
		}
	}
	return 0;
}

/** Column in which the help texts begin, and their last. */
#define HELP_COLUMN 26
#define HELP_WIDTH  80

/** Write @text from HELP_COLUMN on, broken at blanks. */
static void put_wrapped(struct buf *out, struct str text) {
	while (text.len) {
		size_t width = HELP_WIDTH - HELP_COLUMN;
		size_t end = text.len;
		if (end > width) {
			end = width;
			while (end > 0 && text.p[end] != ' ') {
				end--;
			}
		}
		buf_put(out, (struct str){text.p, end});
		buf_putc(out, '\n');
		text = str_from(text, end < text.len ? end + 1 : end);
		if (text.len) {
			buf_putf(out, "%*s", HELP_COLUMN, "");
		}
	}
}

void options_help(struct buf *out, enum command command) {
	for (const struct option *o = options; !is_end(o); o++) {
		if (!(o->commands & command) || !o->help) {
			continue;
		}
		char *head =
			arena_format(out->arena, "  %c%c%s --%s%s%s%s", o->letter ? '-' : ' ',
				     o->letter ? o->letter : ' ', o->letter ? "," : " ", o->name,
				     o->argument ? (o->id >= OPT_VERBS		 ? " "
						    : o->takes == TAKES_OPTIONAL ? "[="
										 : "=")
						 : "",
				     o->argument ? o->argument : "", o->takes == TAKES_OPTIONAL ? "]" : "");
		buf_puts(out, head);
		size_t len = strlen(head);
		if (len + 2 > HELP_COLUMN) {
			buf_putc(out, '\n');
			len = 0;
		}
		buf_putf(out, "%*s", (int)(HELP_COLUMN - len), "");
		put_wrapped(out, str_of(o->help));
	}
}
