// SPDX-License-Identifier: Apache-2.0

#include "cluster/cluster.h"

#include "base/nearest.h"
#include "base/num.h"
#include "cluster/source.h"

#include <errno.h>

/** PyTorch's own default. */
#define PORT_DEFAULT 29500

/**
 * Where jobs share nodes, the port is PORT_BASE + (31 x job + step) mod PORT_SPAN: below the ephemeral ports (32768 and up) and
 * Kubernetes' NodePorts (30000 to 32767), away from PyTorch's default.
 */
#define PORT_BASE 20000
#define PORT_SPAN 9400

const char *scope_name(enum scope scope) {
	return scope == SCOPE_NODE ? "node" : scope == SCOPE_TASK ? "task" : "allocation";
}

static int refuse_number(const char *name, const char *value, const char *wanted, struct err *err) {
	return err_set(err, EINVAL, "%s=%s is not %s", name, quote(str_of(value)).s, wanted);
}

int parse_u32(const char *name, const char *value, uint32_t *out, struct err *err) {
	int r = num_read_u32(str_of(value), out);
	if (r < 0) {
		refuse_number(name, value,
			      r == -ERANGE ? "a whole number below 4294967295" : "a whole number", err);
	}
	return r < 0 ? -EINVAL : 0;
}

int parse_port(const char *name, const char *value, uint16_t *out, struct err *err) {
	uint64_t port;
	if (num_read(str_of(value), UINT16_MAX, &port) < 0 || port == 0) {
		return refuse_number(name, value, "a port (1 to 65535)", err);
	}
	*out = (uint16_t)port;
	return 0;
}

int read_u32(const struct input *in, const char *name, uint32_t *out, struct err *err) {
	const char *value = env_value(in->env, name);
	return value ? parse_u32(name, value, out, err) : 0;
}

int read_port(const struct input *in, const char *name, uint16_t *out, struct err *err) {
	const char *value = env_value(in->env, name);
	return value ? parse_port(name, value, out, err) : 0;
}

static int find_source(const struct input *in, const struct source **out, const char **by, struct err *err) {
	struct nearest best = {.word = str_of(in->cluster.value)};
	const struct source *named = NULL;
	for (size_t i = 0; sources[i]; i++) {
		if (in->cluster.value && strcmp(sources[i]->name, in->cluster.value) != 0) {
			nearest_try(&best, sources[i]->name);
			continue;
		}
		named = sources[i];
		*by = named->detect(in);
		if (*by) {
			*out = named;
			return 0;
		}
	}
	if (in->cluster.value && !named) {
		return err_set(err, EINVAL, "%s=%s: there is no such source%s; see 'distinit sources'",
			       in->cluster.from, quote(str_of(in->cluster.value)).s,
			       nearest_hint(&best, "").s);
	}
	if (in->cluster.value) {
		return err_set(err, EINVAL,
			       "%s=%s: its variables are not set here; 'distinit sources' lists them",
			       in->cluster.from, named->name);
	}
	*out = NULL;
	return 0;
}

/** The innermost launcher whose word counts where @source gave the placement, or NULL. */
static const struct launcher *find_launcher(const struct input *in, const struct source *source) {
	for (size_t i = 0; launchers[i]; i++) {
		const struct launcher *l = launchers[i];
		bool theirs =
			l->manager && source && !source->by_hand && strcmp(source->name, l->manager) != 0;
		if (!theirs && env_value(in->env, l->rank) && env_value(in->env, l->size) &&
		    (!l->detect || l->detect(in))) {
			return l;
		}
	}
	return NULL;
}

const char *launcher_recognised_by(const struct launcher *launcher) {
	return launcher->recognised_by ? launcher->recognised_by : launcher->rank;
}

uint32_t launcher_node_rank(struct input *in, const struct hosts *hosts) {
	uint32_t place = hosts_find_loosely(hosts, in->task.host);
	if (place == hosts->n) {
		place = hosts_find_loosely(hosts, str_of(input_hostname(in)));
	}
	return place == hosts->n ? UNKNOWN : place;
}

int check_below(const char *name, uint32_t number, const char *limit_name, uint32_t limit, struct err *err) {
	if (number != UNKNOWN && limit != UNKNOWN && number >= limit) {
		return err_set(err, EINVAL, "%s=%u is not below %s=%u", name, number, limit_name, limit);
	}
	return 0;
}

static int read_task(const struct input *in, const struct launcher *l, struct task *out, struct err *err) {
	int r = read_u32(in, l->rank, &out->rank, err);
	r = r < 0 ? r : read_u32(in, l->size, &out->world_size, err);
	r = r < 0 || !l->local_rank ? r : read_u32(in, l->local_rank, &out->local_rank, err);
	r = r < 0 || !l->local_size ? r : read_u32(in, l->local_size, &out->local_size, err);
	r = r < 0 ? r : check_below(l->rank, out->rank, l->size, out->world_size, err);
	r = r < 0 ? r : check_below(l->local_rank, out->local_rank, l->local_size, out->local_size, err);
	if (r == 0 && out->local_size != UNKNOWN && out->local_size > out->world_size) {
		r = err_set(err, EINVAL, "%s=%u is above %s=%u", l->local_size, out->local_size, l->size,
			    out->world_size);
	}
	out->host = str_of(l->host ? env_get(in->env, l->host) : NULL);
	return r;
}

static uint32_t count_tasks(const struct placement *place) {
	uint64_t sum = 0;
	for (uint32_t i = 0; i < place->hosts.n; i++) {
		sum += place->tasks_per_node[i];
	}
	return sum < UNKNOWN ? (uint32_t)sum : UNKNOWN;
}

/** The rank of task @local on node @node, if ranks are dealt as @place says. */
static uint32_t rank_at(const struct placement *place, uint32_t node, uint32_t local) {
	uint64_t rank = 0;
	for (uint32_t i = 0; i < place->hosts.n; i++) {
		uint32_t tasks = place->tasks_per_node[i];
		if (place->layout == LAYOUT_BLOCK) {
			rank += i < node ? tasks : i == node ? local : 0;
		} else {
			rank += (tasks < local ? tasks : local) + (i < node && tasks > local);
		}
	}
	return (uint32_t)rank;
}

/** What holds for the layers together, whoever gave them. */
static int check_layers(struct cluster *c, struct err *err) {
	struct placement *place = &c->place;
	struct task *task = &c->task;
	if (!place->tasks_per_node || !c->launcher) {
		return 0;
	}
	uint32_t sum = count_tasks(place);
	if (sum != task->world_size) {
		return err_set(err, EINVAL, "%s: the tasks of all nodes add up to %u, but %s=%u",
			       c->source->name, sum, c->launcher->size, task->world_size);
	}
	if (place->node_rank == UNKNOWN) {
		place->layout = LAYOUT_UNKNOWN;
		return 0;
	}
	if (task->local_size == UNKNOWN) {
		task->local_size = place->tasks_per_node[place->node_rank];
	}
	if (task->local_rank != UNKNOWN && task->local_rank >= task->local_size) {
		return err_set(err, EINVAL, "%s=%u, but this node has %u tasks", c->launcher->local_rank,
			       task->local_rank, task->local_size);
	}
	// What the manager says of the layout is believed where it is true of this very task.
	if (place->layout != LAYOUT_UNKNOWN &&
	    (task->local_rank == UNKNOWN ||
	     rank_at(place, place->node_rank, task->local_rank) != task->rank)) {
		place->layout = LAYOUT_UNKNOWN;
	}
	return 0;
}

static int check_placement(const struct input *in, struct placement *place, struct err *err) {
	if (!place->hosts_from) {
		return check_below(place->node_rank_from, place->node_rank, place->nnodes_from, place->nnodes,
				   err);
	}
	int r = hosts_check(&place->hosts, in->arena, place->hosts_from, err);
	if (r < 0) {
		return r;
	}
	place->nnodes = place->hosts.n;
	if (place->node_rank != UNKNOWN && place->node_rank >= place->hosts.n) {
		return err_set(err, EINVAL, "%s=%u, but %s lists %u (0 to %u)", place->node_rank_from,
			       place->node_rank, place->hosts_from, place->hosts.n, place->hosts.n - 1);
	}
	return 0;
}

/** The number of nodes that the user told completes what the manager tells, and may not contradict it. */
static int check_told_nnodes(const struct input *in, const struct cluster *c, struct placement *place,
			     struct err *err) {
	uint32_t told = told_nnodes(in);
	if (told == UNKNOWN || place->nnodes == told) {
		return 0;
	}
	if (place->nnodes != UNKNOWN) {
		return err_set(err, EINVAL, "%s=%u, but %s (%s) has %u node%s", in->nnodes.from, told,
			       place->hosts_from ? place->hosts_from : place->nnodes_from, c->source->name,
			       place->nnodes, place->nnodes == 1 ? "" : "s");
	}
	place->nnodes = told;
	place->nnodes_from = in->nnodes.from;
	return check_below(place->node_rank_from, place->node_rank, place->nnodes_from, told, err);
}

/** What holds where the user says by --scope that one of us runs on each node. */
static int check_scope(struct input *in, const struct cluster *c, struct err *err) {
	if (c->scope != SCOPE_NODE) {
		return 0;
	}
	if (c->launcher && c->task.local_size != UNKNOWN && c->task.local_size > 1) {
		return err_set(err, EINVAL, "%s=%s, but %s started %u processes on this node", in->scope.from,
			       in->scope.value, c->launcher->name, c->task.local_size);
	}
	if (c->place.hosts.n > 1 && c->place.node_rank == UNKNOWN) {
		return err_set(err, EINVAL,
			       "%s=%s: this machine, %s, is none of the %u hosts of %s; pass "
			       "--hostname=NAME, as it stands there",
			       in->scope.from, in->scope.value, quote(str_of(input_hostname(in))).s,
			       c->place.hosts.n, c->place.hosts_from);
	}
	return 0;
}

/** Without a manager: all that can be said is whether the launcher's ranks share one node, which is then this one. */
static void place_without_source(struct input *in, struct cluster *c) {
	if (c->task.world_size == 1 || c->task.local_size == c->task.world_size) {
		hosts_single(in->arena, STR("127.0.0.1"), &c->place.hosts);
		c->place.node_rank = 0;
		c->nnodes = 1;
	}
}

bool cluster_is_single(const struct cluster *c) {
	uint32_t tasks = 1;
	if (c->launcher) {
		tasks = c->task.world_size;
	} else if (c->place.tasks_per_node && c->nnodes == 1) {
		tasks = c->place.tasks_per_node[0];
	}
	return (c->nnodes == 1 && tasks <= 1) || (c->launcher && c->task.world_size == 1);
}

bool cluster_is_vague(const struct cluster *c) {
	return !c->launcher && c->nnodes == UNKNOWN && c->master_addr.len == 0;
}

uint32_t cluster_rendezvous_rank(const struct cluster *c) {
	uint32_t rank = c->place.node_rank, master = c->master_node;
	if (rank == UNKNOWN || rank > master) {
		return rank;
	}
	return rank == master ? 0 : rank + 1;
}

static uint16_t port_of_job(const struct placement *place) {
	uint64_t job = 0;
	const char *p = place->job_id;
	for (; *p >= '0' && *p <= '9'; p++) {
		job = (job * 10 + (uint64_t)(*p - '0')) % PORT_SPAN;
	}
	// Where the id does not begin with a number ("f2e73NP", "host.12.0"), all of its bytes count.
	for (bool text = p == place->job_id; text && *p; p++) {
		job = (job * 31 + (unsigned char)*p) % PORT_SPAN;
	}
	return (uint16_t)(PORT_BASE + (31 * job + place->step) % PORT_SPAN);
}

/** The host that rank 0 runs on, as far as the layers tell it together; empty if they do not. */
static struct str host_of_rank_0(const struct cluster *c) {
	// All ranks of a launcher may share one node, which need not be the manager's first.
	bool together = c->launcher && c->task.local_size == c->task.world_size;
	if (together) {
		return c->place.node_rank < c->place.hosts.n ? hosts_at(&c->place.hosts, c->place.node_rank)
							     : STR("127.0.0.1");
	}
	if (c->place.master_addr.len) {
		return c->place.master_addr;
	}
	return c->place.hosts.n ? hosts_at(&c->place.hosts, c->place.master) : STR("");
}

/** The rendezvous that the user chose: where it is one of the hosts, that is the one on which node 0 has to be. */
static void choose_master(struct cluster *c, const char *addr, const char *why) {
	c->master_addr = str_of(addr);
	c->master_addr_why = why;
	uint32_t node = hosts_find_loosely(&c->place.hosts, c->master_addr);
	if (node < c->place.hosts.n) {
		c->master_node = node;
	}
}

static void find_master_addr(const struct input *in, struct cluster *c) {
	const char *set = env_value(in->env, "MASTER_ADDR");
	c->master_node = c->place.master;
	if (set) {
		choose_master(c, set, "MASTER_ADDR was set already");
		return;
	}
	if (in->master_addr.value) {
		choose_master(c, in->master_addr.value, in->master_addr.from);
		return;
	}
	c->master_addr = host_of_rank_0(c);
	c->master_addr_why = c->place.master_addr.len ? c->place.master_addr_from : "the host of rank 0";
	if (c->master_addr.len == 0 && !cluster_is_vague(c)) {
		notes_add(in->notes,
			  "%s tells %s but not the hosts, so MASTER_ADDR is left out: set it, or pass "
			  "--master-addr or --hosts",
			  c->launcher ? c->launcher->name : c->source->name,
			  c->launcher ? "the ranks" : "of a cluster");
	} else if (c->launcher && c->task.rank == 0 && c->place.node_rank < c->place.hosts.n &&
		   !str_eq(hosts_at(&c->place.hosts, c->place.node_rank), c->master_addr)) {
		// Only rank 0 can see it; the others believe the list.
		notes_add(in->notes,
			  "rank 0 runs on %s, but MASTER_ADDR is %s, the first host, for all ranks: set "
			  "MASTER_ADDR, or pass "
			  "--master-addr",
			  quote(hosts_at(&c->place.hosts, c->place.node_rank)).s, quote(c->master_addr).s);
	}
}

static int find_master_port(const struct input *in, struct cluster *c, struct err *err) {
	const char *set = env_value(in->env, "MASTER_PORT");
	c->service_link = set && strncmp(set, "tcp://", 6) == 0;
	if (set && !c->service_link) {
		c->master_port_why = "MASTER_PORT was set already";
		return parse_port("MASTER_PORT", set, &c->master_port, err);
	}
	if (in->master_port.value) {
		c->master_port_why = in->master_port.from;
		return parse_port(in->master_port.from, in->master_port.value, &c->master_port, err);
	}
	if (c->place.port) {
		c->master_port = c->place.port;
		c->master_port_why = c->place.port_from;
	} else if (c->place.shared_nodes && c->place.job_id) {
		c->master_port = port_of_job(&c->place);
		c->master_port_why = "made from the job id, as jobs share nodes";
	} else {
		c->master_port = PORT_DEFAULT;
		c->master_port_why = "the default";
	}
	return 0;
}

/** Find the rendezvous. A cluster of one has none, and nothing that is set for one is looked at. */
static int find_master(const struct input *in, struct cluster *c, struct err *err) {
	if (cluster_is_single(c)) {
		c->master_addr = c->place.hosts.n ? hosts_at(&c->place.hosts, 0) : STR("127.0.0.1");
		c->master_port = PORT_DEFAULT;
		c->master_addr_why = c->master_port_why = "a cluster of one";
		return 0;
	}
	find_master_addr(in, c);
	return find_master_port(in, c, err);
}

/**
 * Say that what the user tells of a cluster is of no use where nobody else tells of one. An image may have --scope in a variable,
 * and run alone, too.
 */
static void note_unused(const struct input *in) {
	bool node = in->scope.value && in->scope_told == SCOPE_NODE && in->scope.from[0] == '-';
	const struct told *told = node ? &in->scope : &in->nnodes;
	if (node || (told->value && told_nnodes(in) > 1)) {
		notes_add(in->notes,
			  "%s=%s, but no cluster manager is recognised here, so nothing is derived; --hosts "
			  "tells a cluster by hand",
			  told->from, told->value);
	}
}

int cluster_read(struct input *in, struct cluster *out, struct err *err) {
	const struct task unknown_task = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, {0}};
	struct cluster c = {
		.nnodes = UNKNOWN,
		.place = {.nnodes = UNKNOWN,
			  .node_rank = UNKNOWN,
			  .nproc_per_node = UNKNOWN,
			  .scope = SCOPE_NODE},
		.task = unknown_task,
	};
	int r = find_source(in, &c.source, &c.recognised_by, err);
	if (r < 0) {
		return r;
	}
	c.launcher = find_launcher(in, c.source);
	in->launcher = c.launcher;
	if (!c.source && !c.launcher) {
		note_unused(in);
	}
	if ((!c.source && !c.launcher) || (c.launcher && c.launcher->complete)) {
		return 0;
	}
	if (c.launcher) {
		r = read_task(in, c.launcher, &c.task, err);
	}
	in->task = c.task;
	if (r == 0 && c.source) {
		r = c.source->read(in, &c.place, err);
		r = r < 0 ? r : check_placement(in, &c.place, err);
		r = r < 0 ? r : check_told_nnodes(in, &c, &c.place, err);
		c.nnodes = c.place.nnodes;
	} else if (r == 0) {
		c.recognised_by = launcher_recognised_by(c.launcher);
		place_without_source(in, &c);
		c.nnodes = c.nnodes == UNKNOWN ? told_nnodes(in) : c.nnodes;
	}
	c.scope = in->scope.value ? in->scope_told : c.launcher ? SCOPE_TASK : c.place.scope;
	r = r < 0 ? r : check_layers(&c, err);
	r = r < 0 || !in->scope.value ? r : check_scope(in, &c, err);
	r = r < 0 ? r : find_master(in, &c, err);
	if (r < 0) {
		return r;
	}
	*out = c;
	return 1;
}
