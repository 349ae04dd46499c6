// SPDX-License-Identifier: Apache-2.0

#include "flow/flow.h"

#include "access/view.h"
#include "cluster/check.h"
#include "flow/derived.h"
#include "flow/directives.h"
#include "flow/frameworks.h"
#include "flow/interface.h"
#include "flow/privileges.h"
#include "flow/recognise.h"
#include "flow/stale.h"

#include <errno.h>
#include <string.h>

void flow_init(struct flow *f, struct arena *arena, struct env *env, struct notes *notes) {
	*f = (struct flow){
		.arena = arena,
		.env = env,
		.notes = notes,
		.input = {.arena = arena, .env = env, .notes = notes},
		.access = {.arena = arena},
		.levels = {{.arena = arena}, {.arena = arena}},
	};
}

/** Read --frameworks. Returns 0; -EINVAL. */
static int read_frameworks(const struct flow *f, uint32_t *set, struct err *err) {
	const struct setting *setting = &f->wants.frameworks;
	*set = frameworks_standard();
	return setting->value ? frameworks_parse(setting->from, setting->value, set, err) : 0;
}

/**
 * Recognise the cluster without variables that an outer distinit derived. If the master is unknown then,
 * restore these variables and try again.
 */
static int recognise_anew(struct flow *f, struct err *err) {
	struct env env;
	struct notes notes = *f->notes;
	uint32_t set;
	int r = read_frameworks(f, &set, err);
	if (r < 0) {
		return r;
	}
	env_copy(f->env, &env);
	derived_remove(f, set);
	r = recognise_cluster(&f->input, f->env, &f->cluster, &f->started_by, err);
	if (r > 0 && f->cluster.master_addr.len) {
		return r;
	}
	f->wants.derived = NULL;
	*f->env = env;
	if (r <= 0) {
		return r;
	}
	*f->notes = notes;
	if (f->notes->last) {
		f->notes->last->next = NULL;
	}
	return recognise_cluster(&f->input, f->env, &f->cluster, &f->started_by, err);
}

int flow_find_cluster(struct flow *f, struct err *err) {
	f->input.access = &f->access;
	int r = input_check(&f->input, err);
	if (r < 0 || f->wants.no_cluster) {
		return r;
	}
	r = f->wants.derived ? recognise_anew(f, err)
			     : recognise_cluster(&f->input, f->env, &f->cluster, &f->started_by, err);
	// An unknown source is a wrong option, not a broken cluster.
	if (r < 0 && r != -ENOENT && f->wants.lenient) {
		f->broken = arena_text(f->arena, err->text, strlen(err->text));
		notes_add(f->notes, "%s; nothing is derived (--lenient)", f->broken);
		return 0;
	}
	f->has_cluster = r > 0;
	bool is_rank = f->has_cluster || f->started_by;
	return r < 0 || !is_rank ? r : check_node_rank_needs(&f->input, r ? &f->cluster : NULL, err);
}

/** Check the settings of single frameworks, even if nothing is derived. */
static int read_framework_wants(struct flow *f, struct err *err) {
	const struct setting *path = &f->wants.hostfile_output, *roles = &f->wants.tf_roles;
	if (path->value && path->value[0] != '/') {
		return err_set(err, EINVAL,
			       "%s=%s: an absolute path is expected, "
			       "because the program that reads the file may run in another folder",
			       path->from, quote_text(path->value).s);
	}
	f->derivation.hostfile.path = path->value;
	return roles->value ? tf_roles_read(roles->from, roles->value, &f->derivation.tf_roles, err) : 0;
}

/**
 * Find what the frameworks of @set need besides the cluster: the interface; and this machine's files, by a view that
 * the caller closes, with the workload's rights.
 */
static int find_needs(struct flow *f, uint32_t set, struct err *err) {
	struct derivation *d = &f->derivation;
	if (d->hostfile.path && !frameworks_want_hostfile(set)) {
		notes_add(f->notes,
			  "%s: no host file is written, because --frameworks has none that reads one (mpi, "
			  "mpich, horovod, deepspeed)",
			  f->wants.hostfile_output.from);
	}
	const char *lacks_file =
		d->hostfile.path ? NULL : frameworks_named_for_hostfile(f->wants.frameworks.value);
	if (lacks_file) {
		notes_add(f->notes,
			  "%s=%s: %s gets nothing, "
			  "because no host file is written without --hostfile-output=FILE",
			  f->wants.frameworks.from, quote_text(f->wants.frameworks.value).s, lacks_file);
	}
	if (frameworks_want_interface(set, f->env)) {
		// Names are looked up once in a run.
		int r = f->interface.why
				? 0
				: interface_find(f->arena, &f->cluster, &f->interface, &f->signal, err);
		if (r < 0) {
			return r;
		}
		d->interface = f->interface;
	}
	struct err cause;
	if (frameworks_see_machine(set) && view_open(&f->access, f->input.root.value, &d->view, &cause) < 0) {
		d->unseen = arena_format(f->arena, "this machine is not read: %s", cause.text);
		notes_add(f->notes, "%s", d->unseen);
	}
	return 0;
}

/** Warn if the workload is torchrun, and would train without the other nodes, or ignores a setting. */
static void judge_torchrun(struct flow *f, uint32_t set) {
	struct derivation *d = &f->derivation;
	const char *hint = torchrun_hint(d);
	if (hint) {
		notes_add(f->notes, "%s", hint);
	}
	if (!f->has_cluster) {
		return;
	}
	d->torchrun_alone = torchrun_alone(d, frameworks_set_variable(set, STR("PET_NNODES")), set);
	if (d->torchrun_alone && d->torchrun.found) {
		notes_add(f->notes, "torchrun will not train with the other nodes: %s", d->torchrun_alone);
	}
}

/** Make the workload's environment from the cluster: the frameworks, the identity, the directives. */
static int derive_env(struct flow *f, struct err *err) {
	struct derivation *d = &f->derivation;
	uint32_t set;
	int r = read_frameworks(f, &set, err);
	if (r < 0) {
		return r;
	}
	*d = (struct derivation){
		.cluster = &f->cluster,
		.env = f->env,
		.notes = f->notes,
		.ranks = f->wants.ranks,
		.grace_s = f->wants.grace_s,
		.torchrun = torchrun_read(f->wants.command),
	};
	r = read_framework_wants(f, err);
	if (r == 0 && f->has_cluster && !cluster_is_single(&f->cluster)) {
		r = find_needs(f, set, err);
		r = r < 0 ? r : frameworks_derive(set, d, err);
		r = view_close(d->view, r, err);
	}
	if (r == 0) {
		judge_torchrun(f, set);
		// Directives come later, so they can change the identity.
		privileges_set_identity(f);
	}
	r = r < 0 ? r : directives_apply(&f->levels.job, f->env, f->notes, err);
	r = r < 0 ? r : directives_apply(&f->levels.app, f->env, f->notes, err);
	r = r < 0 ? r : directives_apply(&f->wants.options, f->env, f->notes, err);
	if (r == 0) {
		derived_mark(f);
	}
	return r;
}

int flow_derive(struct flow *f, struct err *err) {
	int r = privileges_plan(f, err);
	r = r < 0 ? r : directives_read(f, err);
	r = r < 0 ? r : flow_find_cluster(f, err);
	return r < 0 ? r : derive_env(f, err);
}

int flow_derive_again(struct flow *f, const struct env *before, struct err *err) {
	uint32_t set;
	*f->env = *before;
	int r = read_frameworks(f, &set, err);
	if (r == 0) {
		derived_remove(f, set);
	}
	return r < 0 ? r : derive_env(f, err);
}

int flow_move_port(struct flow *f, const struct env *before, uint16_t port, const char *why,
		   struct err *err) {
	f->cluster.master_port = port;
	f->cluster.master_port_why = why;
	return flow_derive_again(f, before, err);
}

int flow_write_hostfile(struct flow *f, struct err *err) {
	struct str text = f->derivation.hostfile.text;
	return text.p ? access_write(&f->access, &f->wants.hostfile_output, text, 0444, SPECIAL_OURS, err)
		      : 0;
}
