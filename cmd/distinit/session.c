// SPDX-License-Identifier: Apache-2.0

#include "distinit/session.h"

#include "base/file.h"
#include "cluster/read.h"
#include "distinit/privileges.h"
#include "exec/exec.h"
#include "flow/frameworks.h"
#include "flow/recognise.h"
#include "net/interface.h"

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
	s->levels.job.arena = s->levels.app.arena = &s->arena;
	env_init(&s->env, &s->arena, environ);
}

int session_options(struct session *s, enum command command, char **argv, struct err *err) {
	static const char *const places[] = {"command-line", "all", NULL};
	s->command = command;
	int r = options_read(&s->settings, &s->overrides, &s->arena, command, argv, err);
	if (r == 0 && (settings_on(&s->settings, OPT_HELP) || settings_on(&s->settings, OPT_VERSION))) {
		return 0;
	}
	if (r == 0 && settings_on(&s->settings, OPT_OPTIONS_FROM)) {
		r = settings_choose(&s->settings, OPT_OPTIONS_FROM, places, err);
	}
	r = r < 0 ? r : settings_read_variables(&s->settings, &s->env, &s->notes, err);
	return r < 0 ? r : say_read_level(&s->speaker, &s->settings, OPT_LOG, err);
}

static struct told told(struct session *s, enum option_id id) {
	const char *value = s->settings.value[id];
	return (struct told){value, value ? settings_label(&s->settings, id) : NULL};
}

int session_host(struct session *s, const char *from, const char *value, const char **out, struct err *err) {
	struct hosts host;
	uint32_t empty;
	int r = hosts_split(&s->arena, from, value, ',', &host, &empty, err);
	r = r < 0 ? r : hosts_check(&host, &s->arena, from, err);
	if (r < 0) {
		return r;
	}
	if (host.n > 1) {
		return err_set(err, EINVAL, "%s=%s: one host is expected", from, quote(str_of(value)).s);
	}
	struct str bare = hosts_at(&host, 0);
	*out = arena_text(&s->arena, bare.p, bare.len);
	return 0;
}

/** Check what was told of the rendezvous, whether or not there is a cluster; an address loses its brackets. */
static int check_master(struct session *s, struct err *err) {
	struct told *addr = &s->input.master_addr, *port = &s->input.master_port;
	int r = addr->value ? session_host(s, addr->from, addr->value, &addr->value, err) : 0;
	uint16_t number;
	return r == 0 && port->value ? parse_port(port->from, port->value, &number, err) : r;
}

static int check_nnodes(const struct told *nnodes, struct err *err) {
	uint32_t number;
	if (!nnodes->value) {
		return 0;
	}
	int r = parse_u32(nnodes->from, nnodes->value, &number, err);
	if (r == 0 && (number == 0 || number > HOSTS_MAX)) {
		r = err_set(err, EINVAL, "%s=%u: a number of nodes from 1 to %u is expected", nnodes->from,
			    number, HOSTS_MAX);
	}
	return r;
}

/** Hosts that are told by hand are told once, and no manager is asked for beside them. */
static int check_told_hosts(const struct input *in, struct err *err) {
	const struct told *list = in->hosts.value ? &in->hosts : &in->hostfile;
	const char *source = in->hosts.value ? "manual" : "hostfile";
	if (in->hosts.value && in->hostfile.value) {
		return err_set(err, EINVAL, "%s and %s contradict each other; one of them is enough",
			       in->hosts.from, in->hostfile.from);
	}
	if (list->value && in->cluster.value && strcmp(in->cluster.value, source) != 0) {
		return err_set(err, EINVAL, "%s and %s=%s contradict each other; one of them is enough",
			       list->from, in->cluster.from, in->cluster.value);
	}
	if (in->node_rank.value && !list->value) {
		return err_set(err, EINVAL, "%s goes with --hosts or --hostfile, which are not given",
			       in->node_rank.from);
	}
	return 0;
}

static int read_scope(struct session *s, struct err *err) {
	static const char *const words[] = {"auto", "node", "allocation", NULL};
	static const enum scope scopes[] = {SCOPE_NODE, SCOPE_NODE, SCOPE_ALLOCATION};
	int word = s->settings.value[OPT_SCOPE] ? settings_choose(&s->settings, OPT_SCOPE, words, err) : 0;
	if (word > 0) {
		s->input.scope = told(s, OPT_SCOPE);
		s->input.scope_told = scopes[word];
	}
	return word < 0 ? word : 0;
}

/** Take from the options what a cluster is read from. */
static int read_input(struct session *s, struct err *err) {
	s->input = (struct input){
		.arena = &s->arena,
		.env = &s->env,
		.notes = &s->notes,
		.root = s->settings.value[OPT_ROOT],
		.hostname = s->settings.value[OPT_HOSTNAME],
		.cluster = told(s, OPT_CLUSTER),
		.hosts = told(s, OPT_HOSTS),
		.hostfile = told(s, OPT_HOSTFILE),
		.node_rank = told(s, OPT_NODE_RANK),
		.nnodes = told(s, OPT_NNODES),
		.master_addr = told(s, OPT_MASTER_ADDR),
		.master_port = told(s, OPT_MASTER_PORT),
	};
	struct input *in = &s->input;
	if (in->cluster.value && strcmp(in->cluster.value, "auto") == 0) {
		in->cluster.value = NULL;
	}
	int r = check_told_hosts(in, err);
	r = r < 0 ? r : read_scope(s, err);
	r = r < 0 ? r : check_nnodes(&in->nnodes, err);
	return r < 0 ? r : check_master(s, err);
}

/** The files it reads are named by variables, except for --hostfile; with that, no other is read. */
static int read_cluster(struct session *s, struct err *err) {
	if (s->settings.given[OPT_HOSTFILE]) {
		return recognise_cluster(&s->input, &s->cluster, err);
	}
	int r = session_rights_lower(s, err);
	if (r < 0) {
		return r;
	}
	return session_rights_restore(s, recognise_cluster(&s->input, &s->cluster, err), err);
}

int session_cluster(struct session *s, struct err *err) {
	int r = read_input(s, err);
	if (r < 0 || (s->input.cluster.value && strcmp(s->input.cluster.value, "none") == 0)) {
		return r;
	}
	r = read_cluster(s, err);
	// A source's name that is none is a wrong option, not a broken source.
	if (r < 0 && r != -ENOENT && settings_on(&s->settings, OPT_LENIENT)) {
		s->broken = arena_text(&s->arena, err->text, strlen(err->text));
		notes_add(&s->notes, "%s; nothing is derived (--lenient)", s->broken);
		return 0;
	}
	s->has_cluster = r > 0;
	return r < 0 ? r : 0;
}

/** Read the options that are one framework's. */
static int read_framework_options(struct session *s, struct derivation *d, struct err *err) {
	const char *path = s->settings.value[OPT_HOSTFILE_OUTPUT];
	const char *roles = s->settings.value[OPT_TF_ROLES];
	if (path && path[0] != '/') {
		return err_set(
			err, EINVAL,
			"%s=%s: a path that begins with '/' is expected, as what reads the file may run in "
			"another folder",
			settings_label(&s->settings, OPT_HOSTFILE_OUTPUT), quote(str_of(path)).s);
	}
	d->hostfile.path = path;
	return roles ? tf_roles_read(settings_label(&s->settings, OPT_TF_ROLES), roles, &d->tf_roles, err)
		     : 0;
}

static int run_frameworks(struct session *s, struct err *err) {
	static const char *const words[] = {"auto", "always", "never", NULL};
	uint32_t set = frameworks_standard();
	int ranks = RANKS_AUTO;
	struct derivation *d = &s->derivation;
	if (s->settings.value[OPT_FRAMEWORKS]) {
		int r = frameworks_parse(settings_label(&s->settings, OPT_FRAMEWORKS),
					 s->settings.value[OPT_FRAMEWORKS], &set, err);
		if (r < 0) {
			return r;
		}
	}
	if (s->settings.value[OPT_RANKS]) {
		ranks = settings_choose(&s->settings, OPT_RANKS, words, err);
		if (ranks < 0) {
			return ranks;
		}
	}
	*d = (struct derivation){
		.cluster = &s->cluster,
		.env = &s->env,
		.notes = &s->notes,
		.ranks = (enum ranks)ranks,
	};
	int r = read_framework_options(s, d, err);
	if (r < 0 || !s->has_cluster || cluster_is_single(&s->cluster)) {
		return r;
	}
	if (d->hostfile.path && !frameworks_want_hostfile(set)) {
		notes_add(&s->notes,
			  "%s: no host file is written, as none of the frameworks that read one is asked for "
			  "(mpi, mpich, horovod, deepspeed)",
			  settings_label(&s->settings, OPT_HOSTFILE_OUTPUT));
	}
	if (frameworks_want_interface(set, &s->env)) {
		d->interface.name = interface_find(&s->arena, &s->cluster, &d->interface.why);
	}
	return frameworks_derive(set, d, err);
}

int session_write_hostfile(struct session *s, struct err *err) {
	const struct hostfile *file = &s->derivation.hostfile;
	if (!file->text.p) {
		return 0;
	}
	bool told = s->settings.given[OPT_HOSTFILE_OUTPUT];
	int r = told ? 0 : session_rights_lower(s, err);
	r = r < 0 ? r
		  : file_write(&s->arena, settings_label(&s->settings, OPT_HOSTFILE_OUTPUT), file->path,
			       file->text, 0444, err);
	return told ? r : session_rights_restore(s, r, err);
}

static int read_directive_file(struct session *s, const char *path, struct err *err) {
	struct str text;
	int r = file_read(&s->arena, "the directive file", path, DIRECTIVE_FILE_MAX, &text, err);
	if (r == 0 && text.len == 0 && strcmp(path, "/dev/null") != 0) {
		// It may have been meant so. But this is also what a full disk leaves of a bundle that was copied.
		notes_add(&s->notes, "the directive file %s is empty", quote(str_of(path)).s);
	}
	return r < 0 ? r : directive_read(&s->levels, path, text, s->settings.value[OPT_APP], err);
}

/** Read the files of the variable. */
static int read_named_files(struct session *s, struct err *err) {
	struct str files = str_of(s->settings.value[OPT_ENV_FILE]), file;
	int r = files.len ? session_rights_lower(s, err) : 0;
	if (r < 0 || files.len == 0) {
		return r;
	}
	while (r == 0 && str_cut(&files, ':', &file)) {
		if (file.len) {
			r = read_directive_file(s, arena_text(&s->arena, file.p, file.len), err);
		}
	}
	return session_rights_restore(s, r, err);
}

/**
 * Read all directives, in their order: the bundle that distrun hands over, so that all others see what is carried; the variables' files, the
 * variable's lines, the options' files.
 */
static int read_directives(struct session *s, struct err *err) {
	const char *bundle = s->settings.value[OPT_BUNDLE];
	int r = bundle ? directive_read(&s->levels, "DISTINIT_BUNDLE", str_of(bundle),
					s->settings.value[OPT_APP], err)
		       : 0;
	r = r < 0 ? r : read_named_files(s, err);
	const char *lines = s->settings.value[OPT_ENV_LINES];
	if (r == 0 && lines) {
		r = directive_read(&s->levels, "DISTINIT_ENV", str_of(lines), s->settings.value[OPT_APP],
				   err);
	}
	for (uint32_t i = 0; r == 0 && i < s->overrides.n_env_files; i++) {
		r = read_directive_file(s, s->overrides.env_files[i], err);
	}
	return r;
}

int session_derive(struct session *s, struct err *err) {
	// First of all, as it says who may open what follows.
	int r = session_privileges_plan(s, err);
	r = r < 0 ? r : read_directives(s, err);
	r = r < 0 ? r : session_cluster(s, err);
	r = r < 0 ? r : run_frameworks(s, err);
	if (r == 0) {
		// Directives can set it again.
		session_set_identity(s);
	}
	r = r < 0 ? r : directives_apply(&s->levels.job, &s->env, &s->notes, err);
	r = r < 0 ? r : directives_apply(&s->levels.app, &s->env, &s->notes, err);
	return r < 0 ? r : directives_apply(&s->overrides.directives, &s->env, &s->notes, err);
}
