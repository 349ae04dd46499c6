// SPDX-License-Identifier: Apache-2.0

#include "distinit/session.h"

#include "base/duration.h"
#include "base/file.h"
#include "base/nearest.h"
#include "cluster/source.h"
#include "distinit/privileges.h"
#include "exec/exec.h"

#include <errno.h>
#include <unistd.h>

static _Noreturn void out_of_memory(size_t size) {
	(void)size;
	write_all(2, STR("distinit: error: out of memory\n"));
	_exit(EXIT_OURS);
}

void session_init(struct session *s, void *memory, size_t size) {
	*s = (struct session){.log = LOG_WARN};
	arena_init(&s->arena, memory, size, out_of_memory);
	s->notes.arena = &s->arena;
	s->levels.job.arena = s->levels.app.arena = &s->arena;
	env_init(&s->env, &s->arena, environ);
}

static const char *const level_names[] = {"error", "warning", "info", "debug"};

void session_say(struct session *s, enum log_level level, const char *text) {
	if (level > s->log) {
		return;
	}
	// One write: lines of several processes do not mix.
	write_all(2, str_of(arena_format(&s->arena, "distinit: %s: %s\n", level_names[level], text)));
}

void session_warn(struct session *s) {
	const struct note *note = s->said ? s->said->next : s->notes.first;
	for (; note; note = note->next) {
		session_say(s, LOG_WARN, note->text);
		s->said = note;
	}
}

int session_fail(struct session *s, const struct err *err) {
	session_say(s, LOG_ERROR, err->text);
	return EXIT_OURS;
}

int session_print(struct session *s, struct str text) {
	int r = write_all(1, text);
	struct err err;
	if (r < 0) {
		err_set(&err, -r, "cannot write to stdout: %s", strerror(-r));
		return session_fail(s, &err);
	}
	return 0;
}

/** Find @id's value among @words, which ends with NULL. Returns its index; -EINVAL with the words. */
static int choose(struct session *s, enum option_id id, const char *const *words, struct err *err) {
	const char *value = s->settings.value[id];
	struct nearest best = {.word = str_of(value)};
	struct buf all = BUF(&s->arena);
	for (int i = 0; words[i]; i++) {
		if (strcmp(words[i], value) == 0) {
			return i;
		}
		nearest_try(&best, words[i]);
		buf_putf(&all, "%s%s", i ? ", " : "", words[i]);
	}
	return err_set(err, EINVAL, "%s=%s: expected one of %s%s", option_label(&s->arena, &s->settings, id),
		       quote(str_of(value)).s, buf_text(&all), nearest_hint(&best, "").s);
}

int session_duration(struct session *s, enum option_id id, uint64_t *ms, struct err *err) {
	const char *value = s->settings.value[id];
	int r = value ? duration_read(str_of(value), ms) : 0;
	if (r < 0) {
		err_set(err, EINVAL, "%s=%s is %s", option_label(&s->arena, &s->settings, id),
			quote(str_of(value)).s,
			r == -ERANGE ? "longer than ten years (3650d)" : "not " DURATION_FORM);
	}
	return r < 0 ? -EINVAL : 0;
}

static int read_log_level(struct session *s, struct err *err) {
	static const char *const words[] = {"error", "warn", "info", "debug", NULL};
	if (s->settings.value[OPT_LOG]) {
		int level = choose(s, OPT_LOG, words, err);
		if (level < 0) {
			return level;
		}
		s->log = (enum log_level)level;
	}
	if (s->settings.verbose) {
		s->log = s->settings.verbose > 1 ? LOG_DEBUG : LOG_INFO;
	}
	return 0;
}

int session_options(struct session *s, enum command command, char **argv, struct err *err) {
	int r = options_parse(&s->arena, command, argv, &s->settings, err);
	if (r == 0 && (option_is_on(&s->settings, OPT_HELP) || option_is_on(&s->settings, OPT_VERSION))) {
		return 0;
	}
	r = r < 0 ? r : options_read_variables(&s->env, &s->settings, &s->notes, err);
	return r < 0 ? r : read_log_level(s, err);
}

static struct told told(struct session *s, enum option_id id) {
	const char *value = s->settings.value[id];
	return (struct told){value, value ? option_label(&s->arena, &s->settings, id) : NULL};
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
	int word = s->settings.value[OPT_SCOPE] ? choose(s, OPT_SCOPE, words, err) : 0;
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

int session_cluster(struct session *s, struct err *err) {
	int r = read_input(s, err);
	if (r < 0 || (s->input.cluster.value && strcmp(s->input.cluster.value, "none") == 0)) {
		return r;
	}
	r = cluster_read(&s->input, &s->cluster, err);
	if (r < 0 && option_is_on(&s->settings, OPT_LENIENT)) {
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
			option_label(&s->arena, &s->settings, OPT_HOSTFILE_OUTPUT), quote(str_of(path)).s);
	}
	d->hostfile.path = path;
	return roles ? tf_roles_read(option_label(&s->arena, &s->settings, OPT_TF_ROLES), roles, &d->tf_roles,
				     err)
		     : 0;
}

static int run_frameworks(struct session *s, struct err *err) {
	static const char *const words[] = {"auto", "always", "never", NULL};
	uint32_t set = frameworks_standard();
	int ranks = RANKS_AUTO;
	struct derivation *d = &s->derivation;
	if (s->settings.value[OPT_FRAMEWORKS]) {
		int r = frameworks_parse(option_label(&s->arena, &s->settings, OPT_FRAMEWORKS),
					 s->settings.value[OPT_FRAMEWORKS], &set, err);
		if (r < 0) {
			return r;
		}
	}
	if (s->settings.value[OPT_RANKS]) {
		ranks = choose(s, OPT_RANKS, words, err);
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
			  option_label(&s->arena, &s->settings, OPT_HOSTFILE_OUTPUT));
	}
	if (frameworks_want_interface(set, &s->env)) {
		d->interface = interface_find(&s->arena, &s->cluster);
	}
	return frameworks_derive(set, d, err);
}

int session_write_hostfile(struct session *s, struct err *err) {
	const struct hostfile *file = &s->derivation.hostfile;
	if (!file->text.p) {
		return 0;
	}
	return file_write(&s->arena, option_label(&s->arena, &s->settings, OPT_HOSTFILE_OUTPUT), file->path,
			  file->text, 0444, err);
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

/**
 * Read all directives, in their order: the bundle that distrun hands over, so that all others see what is carried; the variables' files, the
 * variable's lines, the options' files.
 */
static int read_directives(struct session *s, struct err *err) {
	struct str files = str_of(s->settings.value[OPT_ENV_FILE]), file;
	const char *bundle = s->settings.value[OPT_BUNDLE];
	int r = bundle ? directive_read(&s->levels, "DISTINIT_BUNDLE", str_of(bundle),
					s->settings.value[OPT_APP], err)
		       : 0;
	while (r == 0 && str_cut(&files, ':', &file)) {
		if (file.len) {
			r = read_directive_file(s, arena_text(&s->arena, file.p, file.len), err);
		}
	}
	const char *lines = s->settings.value[OPT_ENV_LINES];
	if (r == 0 && lines) {
		r = directive_read(&s->levels, "DISTINIT_ENV", str_of(lines), s->settings.value[OPT_APP],
				   err);
	}
	for (uint32_t i = 0; r == 0 && i < s->settings.n_env_files; i++) {
		r = read_directive_file(s, s->settings.env_files[i], err);
	}
	return r;
}

int session_derive(struct session *s, struct err *err) {
	int r = read_directives(s, err);
	r = r < 0 ? r : session_cluster(s, err);
	r = r < 0 ? r : run_frameworks(s, err);
	// What they set of the environment, the directives can set again.
	r = r < 0 ? r : session_privileges_read(s, err);
	r = r < 0 ? r : directives_apply(&s->levels.job, &s->env, &s->notes, err);
	r = r < 0 ? r : directives_apply(&s->levels.app, &s->env, &s->notes, err);
	return r < 0 ? r : directives_apply(&s->settings.directives, &s->env, &s->notes, err);
}
