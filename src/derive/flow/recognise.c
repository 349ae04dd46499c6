// SPDX-License-Identifier: Apache-2.0

#include "flow/recognise.h"

#include "base/nearest.h"
#include "cluster/check.h"
#include "cluster/rendezvous.h"
#include "flow/stale.h"
#include "flow/tables.h"
#include "net/own.h"
#include "source/ask.h"
#include "source/row.h"

#include <errno.h>
#include <string.h>

static const struct task unknown_task = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, {0}};

/** The most used managers on Kubernetes, for a message. */
static const char kubernetes_managers[] =
	"indexedjob (Job, JobSet), pytorchjob, trainjob, mpijob, tfjob, jaxjob, lws, volcano; "
	"'distinit managers' lists all";

static bool is_kubernetes(const char *name) {
	return strcmp(name, "kubernetes") == 0 || strcmp(name, "k8s") == 0;
}

/** Refuse the manager that the user names: its source @named does not recognise it; NULL: there is no such source. */
static int refuse_manager(const struct input *in, const struct source *named, struct err *err) {
	struct nearest best = {.word = str_of(in->cluster.value)};
	if (named) {
		return err_set(err, EINVAL,
			       "%s=%s: its variables are not set here; 'distinit managers' lists them",
			       in->cluster.from, named->name);
	}
	if (is_kubernetes(in->cluster.value)) {
		return err_set(err, ENOENT,
			       "%s=%s: Kubernetes itself sets no variables of a cluster; "
			       "name what made the pods: %s",
			       in->cluster.from, in->cluster.value, kubernetes_managers);
	}
	for (size_t i = 0; sources[i]; i++) {
		nearest_try(&best, sources[i]->name);
	}
	return err_set(err, ENOENT, "%s=%s: there is no such manager%s; see 'distinit managers'",
		       in->cluster.from, quote_text(in->cluster.value).s, nearest_hint(&best, "").s);
}

/** Whether @l started us, by its own conditions or by its source. */
static bool has_started_us(const struct input *in, const struct launcher *l) {
	for (size_t i = 0; l->as_source && sources[i]; i++) {
		if (strcmp(sources[i]->name, l->as_source) == 0) {
			return source_detect(in, sources[i]);
		}
	}
	const char *by;
	return (!l->row || row_matches(in, l->row, &by)) && (!l->detect || l->detect(in));
}

/** Whether launcher @l has set a rank here, and counts if the placement is from @source. */
static bool has_ranked(const struct input *in, const struct source *source, const struct launcher *l) {
	bool theirs = l->manager && source && !source->by_hand && strcmp(source->name, l->manager) != 0;
	return !theirs && env_value(in->env, l->rank) && has_started_us(in, l);
}

/** The launchers that set variables here, if the placement is from one source. */
struct launchers_found {
	/** The innermost one that counts; NULL: none. */
	const struct launcher *counts;
	/** The innermost one that set its rank but not its size, and so does not count; NULL: none. */
	const struct launcher *half;
	/** Stale variables were removed from the environment. */
	bool removed;
};

/**
 * Find the launchers, if the placement is from @source, recognised by @by. A launcher whose variables are
 * stale, from another job, does not count; if it sets all variables of a run, they are removed from @env.
 */
static struct launchers_found find_launchers(struct input *in, struct env *env, const struct source *source,
					     const char *by) {
	struct launchers_found found = {0};
	for (size_t i = 0; launchers[i] && !found.counts; i++) {
		const struct launcher *l = launchers[i];
		if (!has_ranked(in, source, l)) {
			continue;
		}
		if (l->size && !env_value(in->env, l->size)) {
			found.half = found.half ? found.half : l;
		} else if (!stale_found(in, source, by, l)) {
			found.counts = l;
		} else if (l->complete) {
			stale_remove(env, l);
			found.removed = true;
		}
	}
	return found;
}

/**
 * Warn about a launcher that set its rank but not its size: otherwise each of its ranks would silently
 * count as a node, or as a rank of another launcher. A size without a rank is not reported: under pyxis,
 * an ENTRYPOINT has one.
 */
static void note_half(const struct input *in, const struct launcher *l) {
	notes_add(in->notes,
		  "%s is set, but %s is not: this process is not taken for a rank of %s; set both or neither",
		  l->rank, l->size, l->name);
}

/** Count the pieces of the list @value, separated by commas. */
static uint32_t count_pieces(const char *value) {
	uint32_t n = 1;
	for (; *value; value++) {
		n += *value == ',';
	}
	return n;
}

static int read_task(const struct input *in, const struct launcher *l, struct task *out, struct err *err) {
	int r = read_u32(in, l->rank, &out->rank, err);
	r = r < 0 || !l->size ? r : read_u32(in, l->size, &out->world_size, err);
	r = r < 0 || !l->local_rank ? r : read_u32(in, l->local_rank, &out->local_rank, err);
	r = r < 0 || !l->local_size ? r : read_u32(in, l->local_size, &out->local_size, err);
	if (l->ranks_here && env_value(in->env, l->ranks_here)) {
		out->local_size = count_pieces(env_value(in->env, l->ranks_here));
	}
	const char *local_size = l->local_size ? l->local_size : l->ranks_here;
	r = r < 0 ? r : check_below(l->rank, out->rank, l->size, out->world_size, err);
	r = r < 0 ? r : check_below(l->local_rank, out->local_rank, local_size, out->local_size, err);
	if (r == 0 && out->local_size != UNKNOWN && out->local_size > out->world_size) {
		r = err_set(err, EINVAL, "%s=%u is above %s=%u" ONE_IS_STALE, local_size, out->local_size,
			    l->size, out->world_size);
	}
	for (size_t i = 0; i < 2 && !out->host.len && l->host[i]; i++) {
		out->host = str_of(env_get(in->env, l->host[i]));
	}
	return r;
}

/**
 * Number this node by its name, if the launcher may have copied the manager's number from another node.
 * Some launchers always copy variables, others if the user asks for it (mpirun -x). The name is that of
 * the launcher or of this machine, or one of its addresses. If it is not in the list, the manager's
 * number counts, unless the launcher always copies. A number that the user gave stays.
 */
static void number_by_name(struct input *in, const struct cluster *c, struct placement *place) {
	bool numbered = place->node_rank != UNKNOWN && place->node_rank_from &&
			env_value(in->env, place->node_rank_from);
	bool always = c->launcher && c->launcher->copies_env;
	if (!numbered || in->node_rank.value || (!always && !in->found.task.host.len)) {
		return;
	}
	struct err several;
	uint32_t found = launcher_node_rank(in, &place->hosts);
	if (found == UNKNOWN && self_find(in, &place->hosts, &found, &several) < 1) {
		found = UNKNOWN;
	}
	if (always || found != UNKNOWN) {
		place->node_rank = found;
	}
}

/** Without a manager, one fact may be known: all ranks of the launcher share this node. */
static void place_without_source(struct input *in, struct cluster *c) {
	if (c->task.world_size == 1 || cluster_shares_node(c)) {
		hosts_single(in->arena, STR("127.0.0.1"), &c->place.hosts);
		c->place.node_rank = 0;
		c->nnodes = 1;
	} else {
		c->nnodes = given_nnodes(in);
	}
}

/** Warn that @variable overrides @option: most options override variables. */
static void note_overridden(const struct input *in, const struct setting *option, const char *variable) {
	const char *set = env_value(in->env, variable);
	if (set && !is_service_link(set) && option->value && setting_by_option(option) &&
	    strcmp(set, option->value) != 0) {
		notes_add(in->notes,
			  "%s=%s in the environment overrides %s=%s; --set %s=%s would override it", variable,
			  quote_text(set).s, option->from, quote_text(option->value).s, variable,
			  quote_text(option->value).s);
	}
}

/**
 * Find the owners of both layers: the launcher of @c, and the first source that recognises its manager. If the user names a
 * manager, only its sources are asked. Those that describe only nodes are skipped in a rank of a launcher. Warn about a
 * launcher that does not count, and about settings that do not.
 * Returns 1; 0 if there is nothing to describe; -EINVAL, -ENOENT.
 */
static int find_owners(struct input *in, struct env *env, struct cluster *c, struct err *err) {
	const char *name = in->cluster.value;
	struct launchers_found found;
	bool is_rank = false;
	do {
		const struct source *asked = NULL;
		c->source = NULL;
		for (size_t i = 0; sources[i] && !c->source; i++) {
			if (name ? strcmp(sources[i]->name, name) != 0 : is_rank && sources[i]->nodes_only) {
				continue;
			}
			asked = sources[i];
			c->recognised_by = source_detect(in, asked);
			c->source = c->recognised_by ? asked : NULL;
		}
		if (name && !c->source) {
			return refuse_manager(in, asked, err);
		}
		found = find_launchers(in, env, c->source, c->recognised_by);
		is_rank = !is_rank && found.counts && c->source && c->source->nodes_only && !name;
		// Without the variables that were removed, another source may recognise its manager.
	} while (is_rank || found.removed);
	c->launcher = found.counts;
	if (found.half) {
		note_half(in, found.half);
	}
	note_overridden(in, &in->master_addr, "MASTER_ADDR");
	note_overridden(in, &in->master_port, "MASTER_PORT");
	if (!c->source && !c->launcher) {
		nearly_recognised(in);
		return 0;
	}
	return !(c->launcher && c->launcher->complete);
}

/** Warn that @l started this process as a rank, but does not provide the number of ranks. */
static void note_unnumbered(const struct input *in, const struct launcher *l) {
	notes_add(in->notes,
		  "%s started this process as rank %u (%s), but does not provide the number of ranks, "
		  "so no ranks are derived; start it with mpirun or srun, which provide it",
		  l->name, in->found.task.rank, l->rank);
}

int recognise_cluster(struct input *in, struct env *env, struct cluster *out,
		      const struct launcher **started_by, struct err *err) {
	struct cluster c = {
		.nnodes = UNKNOWN,
		.place = {.nnodes = UNKNOWN,
			  .node_rank = UNKNOWN,
			  .nproc_per_node = UNKNOWN,
			  .scope = SCOPE_NODE},
		.task = unknown_task,
	};
	in->own_addresses = own_addresses;
	int r = find_owners(in, env, &c, err);
	*started_by = in->found.launcher = c.launcher;
	if (r <= 0) {
		return r;
	}
	const struct source *source = c.source;
	r = c.launcher ? read_task(in, c.launcher, &c.task, err) : 0;
	in->found.task = c.task;
	if (r == 0 && c.launcher && !c.launcher->size) {
		note_unnumbered(in, c.launcher);
		if (!source) {
			return 0;
		}
	}
	if (r == 0 && source) {
		r = source->read ? source->read(in, &c.place, err)
				 : row_read(in, source->row, c.recognised_by, &c.place, err);
		r = r < 0 ? r : check_placement(in, &c.place, err);
		r = r < 0 ? r : check_given_nnodes(in, &c, &c.place, err);
		r = r < 0 ? r : check_given_node_rank(in, &c, &c.place, err);
	} else if (r == 0) {
		c.recognised_by = launcher_recognised_by(c.launcher);
		place_without_source(in, &c);
	}
	if (r < 0) {
		return r;
	}
	if (source) {
		number_by_name(in, &c, &c.place);
		c.nnodes = c.place.nnodes;
	}
	if (c.launcher && !c.launcher->size) {
		// Without the number of ranks, only the nodes are described.
		c.uncounted = true;
		c.launcher = NULL;
		c.task = unknown_task;
	}
	c.scope = in->scope.value ? in->scope_given : c.launcher ? SCOPE_TASK : c.place.scope;
	r = check_layers(&c, err);
	r = r < 0 || !in->scope.value ? r : check_scope(in, &c, err);
	r = r < 0 ? r : rendezvous_find(in, &c, err);
	if (r < 0) {
		return r;
	}
	bool script = c.scope == SCOPE_ALLOCATION && !in->scope.value && !cluster_is_single(&c);
	if (script && c.source && strcmp(c.source->name, "slurm") == 0) {
		nearly_slurm(in);
	}
	*out = c;
	return 1;
}
