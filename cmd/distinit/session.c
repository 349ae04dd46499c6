// SPDX-License-Identifier: Apache-2.0

#include "distinit/session.h"

#include "access/view.h"
#include "base/file.h"
#include "base/num.h"
#include "base/secret.h"
#include "cluster/read.h"
#include "distinit/core.h"
#include "env/carried.h"
#include "exec/exec.h"
#include "flow/privileges.h"
#include "priv/elevated.h"

#include <errno.h>
#include <unistd.h>

static _Noreturn void out_of_memory(size_t size) {
	(void)size;
	write_all(2, STR("distinit: error: out of memory\n"));
	_exit(EXIT_OURS);
}

void session_init(struct session *s, void *memory, size_t size) {
	*s = (struct session){.speaker = {.program = "distinit", .log = LOG_WARN, .arena = &s->arena}};
	arena_init(&s->arena, memory, size, out_of_memory);
	s->notes.arena = &s->arena;
	env_init(&s->env, &s->arena, environ);
	flow_init(&s->flow, &s->arena, &s->env, &s->notes);
}

bool session_calls_roll(const struct session *s) {
	const char *what = s->settings.value[OPT_FOR];
	bool run = s->command & (CMD_RUN | CMD_SHOWS_RUN);
	bool waits = s->command == CMD_WAIT || (run && settings_on(&s->settings, OPT_WAIT));
	return (waits && what && strcmp(what, "all") == 0) ||
	       (run && settings_on(&s->settings, OPT_TOGETHER));
}

/**
 * The secret is for the roll call alone: hidden from the program, and from readers of /proc. @given: where it stands; where it
 * was carried, that is in our memory.
 */
static void hide_secret(struct session *s, const char *given) {
	static const char name[] = "DISTINIT_SECRET=";
	const char **value = &s->settings.value[OPT_SECRET];
	*value = *value && session_calls_roll(s) ? arena_text(&s->arena, *value, strlen(*value)) : NULL;
	for (char **entry = environ; *entry; entry++) {
		if (strncmp(*entry, name, sizeof(name) - 1) == 0 || carried_is(*entry)) {
			char *secret = strchr(*entry, '=') + 1;
			explicit_bzero(secret, strlen(secret));
		}
	}
	explicit_bzero((char *)(uintptr_t)given, strlen(given));
	env_unset(&s->env, (struct str){name, sizeof(name) - 2}, NULL);
}

/** Give up capabilities of our own file before an option names a file. Else src/system/access sees to that. */
static int lower_capabilities(struct session *s, struct err *err) {
	bool any = s->command != CMD_RUN || s->overrides.n_env_files || s->settings.any;
	return any ? elevated_lower_root(&s->arena, err) : 0;
}

int session_options(struct session *s, enum command command, char **argv, struct err *err) {
	s->command = command;
	int r = options_read(&s->settings, &s->overrides, &s->arena, command, argv, err);
	if (r == 0 && (settings_on(&s->settings, OPT_HELP) || settings_on(&s->settings, OPT_VERSION))) {
		return 0;
	}
	const struct option *again = s->settings.repeated;
	if (r == 0 && again) {
		notes_add(&s->notes, "--%s is given several times; the last counts: %s", again->name,
			  quote_text(s->settings.value[again->id]).s);
	}
	if (r == 0 && settings_on(&s->settings, OPT_CARRIED)) {
		r = carried_unpack(&s->env, err);
	}
	r = r < 0 ? r : settings_choose(&s->settings, OPT_OPTIONS_FROM, err);
	s->settings.only = s->engine ? CMD_ENGINE : 0;
	const char *secret = s->engine ? NULL : env_get(&s->env, "DISTINIT_SECRET");
	r = r < 0 ? r : settings_read_variables(&s->settings, &s->env, &s->notes, err);
	r = r < 0 ? r : lower_capabilities(s, err);
	if (secret) {
		hide_secret(s, secret);
	}
	r = r < 0 ? r : core_check_options(s, err);
	r = r < 0 ? r : say_read_level(&s->speaker, &s->settings, OPT_LOG, err);
	s->speaker.log = settings_on(&s->settings, OPT_QUIET) ? LOG_ERROR : s->speaker.log;
	return r;
}

struct setting session_setting(struct session *s, enum option_id id) {
	const char *value = s->settings.value[id];
	return value ? (struct setting){value, settings_label(&s->settings, id),
					s->settings.given[id] ? BY_COMMAND_LINE : BY_VARIABLE}
		     : (struct setting){0};
}

static int read_scope(struct session *s, struct err *err) {
	static const enum scope scopes[] = {SCOPE_NODE, SCOPE_NODE, SCOPE_ALLOCATION};
	int word = settings_choose(&s->settings, OPT_SCOPE, err);
	if (word > 0) {
		s->flow.input.scope = session_setting(s, OPT_SCOPE);
		s->flow.input.scope_given = scopes[word];
	}
	return word < 0 ? word : 0;
}

/** Copy the options from which a cluster is read. */
static int read_input(struct session *s, struct err *err) {
	struct input *in = &s->flow.input;
	in->root = session_setting(s, OPT_ROOT);
	in->hostname = s->settings.value[OPT_HOSTNAME];
	in->cluster = session_setting(s, OPT_CLUSTER);
	in->hosts = session_setting(s, OPT_HOSTS);
	in->hostfile = session_setting(s, OPT_HOSTFILE);
	in->read = session_setting(s, OPT_READ);
	in->node_rank = session_setting(s, OPT_NODE_RANK);
	in->nnodes = session_setting(s, OPT_NNODES);
	in->master_addr = session_setting(s, OPT_MASTER_ADDR);
	in->master_port = session_setting(s, OPT_MASTER_PORT);
	if (settings_on(&s->settings, OPT_ALL_NODES) && !in->node_rank.value &&
	    (in->hosts.value || in->hostfile.value)) {
		// It shows each node of the list: this machine, such as a login host, need not be one.
		in->node_rank = (struct setting){"0", "--all-nodes", BY_COMMAND_LINE};
	}
	if (in->cluster.value && strcmp(in->cluster.value, "auto") == 0) {
		in->cluster.value = NULL;
	}
	s->flow.wants.no_cluster = in->cluster.value && strcmp(in->cluster.value, "none") == 0;
	s->flow.wants.derived = s->settings.value[OPT_DERIVED];
	s->flow.wants.lenient = settings_on(&s->settings, OPT_LENIENT);
	return read_scope(s, err);
}

static int read_ranks(struct session *s, struct err *err) {
	int ranks = settings_choose(&s->settings, OPT_RANKS, err);
	if (ranks >= 0) {
		s->flow.wants.ranks = (enum ranks)ranks;
	}
	return ranks < 0 ? ranks : 0;
}

/** Where /etc/passwd is. DISTINIT_ROOT could make any name root: no, if an option fixed a privilege. */
static const char *users_root(struct session *s) {
	const char *fixed = options_fixed_privilege(&s->settings);
	const char *root = s->settings.value[OPT_ROOT];
	if (!root || !fixed || s->settings.given[OPT_ROOT]) {
		return root;
	}
	if (settings_on(&s->settings, OPT_USER) || settings_on(&s->settings, OPT_GROUPS)) {
		notes_add(&s->notes,
			  "users and groups are looked up in /etc, not under DISTINIT_ROOT, because %s is on "
			  "the command line",
			  fixed);
	}
	return NULL;
}

static struct priv_options read_privileges(struct session *s) {
	struct priv_options wanted = {
		.user = session_setting(s, OPT_USER),
		.groups = session_setting(s, OPT_GROUPS),
		.cap_drop = session_setting(s, OPT_CAP_DROP),
		.cap_keep = session_setting(s, OPT_CAP_KEEP),
		.no_new_privs = settings_on(&s->settings, OPT_NO_NEW_PRIVS),
	};
	wanted.root = users_root(s);
	return wanted;
}

int session_view(struct session *s, const struct view **out, struct err *err) {
	struct view *view;
	int r = access_become(&s->flow.access, err);
	r = r < 0 ? r : view_open(&s->flow.access, s->flow.input.root.value, &view, err);
	if (r == 0) {
		*out = view;
	}
	return r;
}

int session_plan(struct session *s, struct err *err) {
	struct wants *w = &s->flow.wants;
	if (s->flow.access.workload == RIGHTS_UNKNOWN && s->command & CMD_PRIVILEGES) {
		w->privileges = read_privileges(s);
		w->must_change = s->command == CMD_RUN;
		w->notes_change = s->command == CMD_RUN || s->command == CMD_EXPLAIN;
	}
	return privileges_plan(&s->flow, err);
}

/** The seconds of --grace where it counts; 0: none. A broken one is refused elsewhere (init_options.c). */
static uint32_t told_grace_s(const struct session *s) {
	const struct settings *set = &s->settings;
	bool stays = settings_on(set, OPT_INIT) || settings_on(set, OPT_TIME_LIMIT) ||
		     settings_on(set, OPT_TOGETHER) || settings_on(set, OPT_MAX_RESTARTS);
	uint64_t ms = 0;
	struct err ignored;
	return stays && settings_duration(set, OPT_GRACE, &ms, &ignored) == 0 ? (uint32_t)(ms / 1000) : 0;
}

/**
 * Whether setting @id has no effect without a cluster. An image may have most of them in variables and also
 * run alone; a number of nodes and a master are of one cluster.
 */
static bool needs_cluster(struct session *s, enum option_id id) {
	const struct input *in = &s->flow.input;
	bool given = s->settings.given[id], uses_master = s->command == CMD_WAIT;
	uses_master = uses_master || settings_on(&s->settings, OPT_FILL);
	switch (id) {
	case OPT_SCOPE:
		return given && in->scope.value && in->scope_given == SCOPE_NODE;
	case OPT_NNODES:
		return given_nnodes(in) > 1;
	case OPT_MASTER_ADDR:
		return !uses_master && !env_value(&s->env, "MASTER_ADDR");
	case OPT_MASTER_PORT:
		return given && !uses_master && !env_value(&s->env, "MASTER_PORT");
	default:
		return given;
	}
}

/** Whether setting @id, on the command line, says that there are several nodes. */
static bool asks_for_several(struct session *s, enum option_id id) {
	const struct input *in = &s->flow.input;
	uint32_t rank = 0;
	bool several = id == OPT_NNODES ||
		       (id == OPT_NODE_RANK && num_read_u32(str_of(in->node_rank.value), &rank) == 0 && rank);
	return several && s->settings.given[id];
}

/**
 * Warn of the first setting that has no effect, because no cluster is recognised. On the command line, one that
 * says that there are several nodes is refused: each would train alone. Returns 0; -EINVAL.
 */
static int check_unused_cluster(struct session *s, struct err *err) {
	static const enum option_id ids[] = {OPT_SCOPE,	      OPT_NNODES,      OPT_NODE_RANK,
					     OPT_MASTER_ADDR, OPT_MASTER_PORT, OPT_TF_ROLES};
	const struct flow *f = &s->flow;
	bool alone = !f->has_cluster && !f->broken && !f->wants.no_cluster && !f->started_by;
	for (size_t i = 0; alone && i < sizeof(ids) / sizeof(ids[0]); i++) {
		const struct setting setting = session_setting(s, ids[i]);
		if (setting.value && needs_cluster(s, ids[i])) {
			static const char text[] =
				"%s=%s, but no cluster manager is recognised here, so nothing is derived; "
				"describe the cluster with --hosts, or with --nnodes, --node-rank and "
				"--master-addr";
			const char *value = secret_text(&s->arena, setting.value);
			if (asks_for_several(s, ids[i])) {
				return err_set(err, EINVAL, text, setting.from, value);
			}
			notes_add(&s->notes, text, setting.from, value);
			return 0;
		}
	}
	return 0;
}

int session_derive(struct session *s, struct err *err) {
	struct wants *w = &s->flow.wants;
	const char *const *value = s->settings.value;
	w->frameworks = session_setting(s, OPT_FRAMEWORKS);
	w->tf_roles = session_setting(s, OPT_TF_ROLES);
	w->hostfile_output = session_setting(s, OPT_HOSTFILE_OUTPUT);
	w->bundle = value[OPT_BUNDLE];
	w->variable_files = session_setting(s, OPT_ENV_FILE);
	w->variable_lines = value[OPT_ENV_LINES];
	w->option_files = s->overrides.env_files;
	w->n_option_files = s->overrides.n_env_files;
	w->options = s->overrides.directives;
	w->app = session_setting(s, OPT_APP);
	w->grace_s = told_grace_s(s);
	w->command = s->command & (CMD_RUN | CMD_EXPLAIN | CMD_CHECK) ? s->settings.arguments : NULL;
	int r = session_plan(s, err);
	r = r < 0 ? r : read_ranks(s, err);
	r = r < 0 ? r : read_input(s, err);
	if (session_calls_roll(s) || settings_on(&s->settings, OPT_ALL_NODES)) {
		env_copy(&s->env, &s->before);
	}
	r = r < 0 ? r : flow_derive(&s->flow, err);
	s->signal = s->flow.signal;
	return r < 0 ? r : check_unused_cluster(s, err);
}

int session_cluster(struct session *s, struct err *err) {
	int r = session_plan(s, err);
	r = r < 0 ? r : read_input(s, err);
	return r < 0 ? r : flow_find_cluster(&s->flow, err);
}
