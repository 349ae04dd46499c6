// SPDX-License-Identifier: Apache-2.0

/**
 * Finds the value of each placeholder in this run. A value that is not known is an error with the way
 * out.
 */

#include "base/buf.h"
#include "base/num.h"
#include "base/signals.h"
#include "cluster/endpoint.h"
#include "cluster/launcher.h"
#include "cluster/read.h"
#include "cluster/rendezvous.h"
#include "fill/fill.h"
#include "flow/interface.h"
#include "flow/master.h"
#include "net/lookup.h"
#include "net/own.h"
#include "net/wait.h"

#include <errno.h>
#include <string.h>

/** Engines read their numbers into 32 bits. */
#define PRODUCT_MAX ((uint64_t)1 << 31)

#define LOOPBACK   "127.0.0.1"
#define OF_ONE	   "a cluster of one"
#define SAME_NODE  "all ranks share one node"
#define NO_HOSTS   "the hosts are not known: pass --hosts"
#define JOB_SCRIPT "a job script has no rank: put distinit behind srun or mpirun"

/** The search for one value. */
struct search {
	struct fill *fill;
	const struct flow *flow;
	/** NULL: a cluster of one, or one that is not known. */
	const struct cluster *cluster;
	/** There is no other process: no cluster, or a cluster of one. */
	bool alone;
	/** A job script, which stands for several processes. */
	bool job_script;
	enum placeholder_id id;
	/** The placeholder, for messages, and the number or variable after its name. */
	struct str what;
	struct str number;
	/** The value as text, and its origin: a clause. */
	struct buf out;
	const char *why;
	struct err *err;
};

static struct search search_of(struct fill *fill, struct err *err) {
	const struct flow *f = fill->flow;
	struct search s = {.fill = fill, .flow = f, .out = BUF(fill->arena), .err = err};
	if (f->has_cluster) {
		s.alone = cluster_is_single(&f->cluster) && !f->cluster.uncounted;
		s.cluster = s.alone ? NULL : &f->cluster;
		s.job_script = !s.alone && f->cluster.scope == SCOPE_ALLOCATION &&
			       (f->cluster.nnodes != 1 || f->cluster.uncounted);
	} else {
		// If there is a launcher but no cluster, torchrun started us.
		s.alone = !f->broken && !f->started_by;
	}
	s.why = OF_ONE;
	return s;
}

/**
 * Report that the value is not known: because of @why, unless there is a more general reason. Returns
 * -EINVAL.
 */
static int not_known(struct search *s, const char *why) {
	if (s->flow->broken) {
		why = "the variables of the cluster manager are broken";
	} else if (!s->cluster && !s->alone && s->flow->started_by->complete) {
		why = "a child of torchrun knows only its ranks and the master";
	}
	return err_set(s->err, EINVAL, "%.*s is not known here: %s", (int)s->what.len, s->what.p, why);
}

static int find_nnodes(struct search *s, uint32_t *out) {
	const struct cluster *c = s->cluster;
	if (!c || c->nnodes == UNKNOWN) {
		return not_known(s, "pass --hosts or --nnodes");
	}
	*out = c->nnodes;
	s->why = c->place.hosts_from ? c->place.hosts_from : "the cluster";
	return 0;
}

/** Find this node's number, as for torchrun: the master's is 0. */
static int find_node_rank(struct search *s, uint32_t *out) {
	const struct cluster *c = s->cluster;
	if (s->job_script) {
		return not_known(s, JOB_SCRIPT);
	}
	if (!c || (c->nnodes != 1 && c->place.node_rank == UNKNOWN)) {
		return not_known(s, "pass --node-rank");
	}
	*out = c->nnodes == 1 ? 0 : cluster_rendezvous_rank(c);
	s->why = c->place.node_rank_from ? c->place.node_rank_from : "this host among the hosts";
	return 0;
}

/** Find a number of the launcher; in a child of torchrun, it is in a variable. */
static int find_task_number(struct search *s, enum placeholder_id id, uint32_t *out) {
	const struct launcher *l = s->flow->started_by;
	const struct task *task = &s->flow->cluster.task;
	if (s->flow->broken || !l) {
		return not_known(s, s->job_script
					    ? JOB_SCRIPT
					    : "no launcher started this process as a rank; {node-rank} is "
					      "this node's number");
	}
	const struct {
		const char *variable;
		uint32_t number;
	} numbers[] = {
		[FILL_RANK] = {l->rank, task->rank},
		[FILL_WORLD_SIZE] = {l->size, task->world_size},
		[FILL_LOCAL_RANK] = {l->local_rank, task->local_rank},
		[FILL_LOCAL_WORLD_SIZE] = {l->local_size, task->local_size},
	};
	const char *variable = numbers[id].variable;
	uint32_t number = s->cluster ? numbers[id].number : UNKNOWN;
	int r = s->cluster || !variable ? 0 : read_u32(&s->flow->input, variable, &number, s->err);
	if (r == 0 && number == UNKNOWN) {
		r = not_known(s, arena_format(s->out.arena, "%s does not provide it", l->name));
	}
	*out = number;
	s->why = variable;
	return r;
}

/** Find MASTER_PORT, as the workload gets it. A value that Kubernetes made for a service does not count. */
static int find_master_port(struct search *s, uint32_t *out) {
	const struct setting *setting = &s->flow->input.master_port;
	const char *value = env_value(s->flow->env, "MASTER_PORT");
	bool set = value && !is_service_link(value);
	uint16_t port = RENDEZVOUS_PORT;
	int r = 0;
	if (set || s->cluster) {
		s->why = set ? "MASTER_PORT" : s->cluster->master_port_why;
		r = master_port(s->flow, &port, s->err);
	} else if (!s->alone) {
		r = not_known(s, "set MASTER_PORT");
	} else if (setting->value) {
		s->why = setting->from;
		r = parse_port(setting->from, setting->value, &port, s->err);
	}
	*out = port;
	return r;
}

static int find_number(struct search *s, uint32_t *out) {
	if (s->id == FILL_MASTER_PORT) {
		return find_master_port(s, out);
	}
	if (s->alone) {
		*out = s->id == FILL_NNODES || s->id == FILL_WORLD_SIZE || s->id == FILL_LOCAL_WORLD_SIZE;
		return 0;
	}
	return s->id == FILL_NNODES	 ? find_nnodes(s, out)
	       : s->id == FILL_NODE_RANK ? find_node_rank(s, out)
					 : find_task_number(s, s->id, out);
}

/** Append a number, times its factor. */
static int put_number(struct search *s) {
	uint32_t number = 0;
	uint64_t factor = 1;
	// The factor is a number, or a variable: its name does not begin with a digit.
	bool named = s->number.len && *s->number.p > '9';
	int r = find_number(s, &number);
	if (r < 0) {
		return r;
	}
	const char *value = named ? env_find(s->flow->env, s->number) : NULL;
	if (named && num_read(str_of(value ? value : ""), UINT32_MAX, &factor) < 0) {
		return err_set(s->err, EINVAL, "%s: the variable %.*s is %s", quote(s->what).s,
			       (int)s->number.len, s->number.p, value ? "no number" : "not set");
	}
	if ((!named && s->number.len && num_read(s->number, PRODUCT_MAX, &factor) < 0) ||
	    number * factor > PRODUCT_MAX) {
		return err_set(s->err, EINVAL, "%s: the product with %u is beyond 2^31", quote(s->what).s,
			       number);
	}
	buf_putu(&s->out, number * factor);
	return 0;
}

/** The host with number @i in the order of {node-rank}: the master's is first. */
static struct str host_at(const struct cluster *c, uint32_t i) {
	uint32_t master = c->master_node;
	return hosts_at(&c->place.hosts, i == 0 ? master : i <= master ? i - 1 : i);
}

/** Append the hosts, or all but the master's, joined by commas. */
static int put_hosts(struct search *s) {
	const struct cluster *c = s->cluster;
	bool workers = s->id == FILL_WORKERS;
	uint32_t n = s->alone ? 1 : c ? c->place.hosts.n : 0;
	uint64_t port = 0;
	if (s->number.len && (num_read(s->number, UINT16_MAX, &port) < 0 || port == 0)) {
		return err_set(s->err, EINVAL, "%s: a port is 1 to 65535", quote(s->what).s);
	}
	if (n <= workers) {
		return not_known(s, n ? "there is only the master's node" : NO_HOSTS);
	}
	if (c) {
		s->why = c->place.hosts_from ? c->place.hosts_from : SAME_NODE;
	}
	for (uint32_t i = workers; i < n; i++) {
		struct str host = c ? host_at(c, i) : STR(LOOPBACK);
		buf_puts(&s->out, i > workers ? "," : "");
		if (port) {
			endpoint_put(&s->out, host, (uint32_t)port);
		} else {
			buf_put(&s->out, host);
		}
	}
	return 0;
}

static bool one_node(const struct search *s) {
	const struct cluster *c = s->cluster;
	return c && cluster_has_one_node(c);
}

/** Append this node's own address. */
static int put_node_addr(struct search *s) {
	const struct cluster *c = s->cluster;
	struct interface found = {.address = s->fill->stand_in};
	if (s->alone || one_node(s)) {
		s->why = SAME_NODE;
		buf_puts(&s->out, LOOPBACK);
		return 0;
	}
	if (!c || s->job_script || !c->master_addr.len) {
		return not_known(s, s->job_script ? JOB_SCRIPT : NO_HOSTS);
	}
	if (!found.address) {
		int r = interface_find(s->out.arena, c, &found, &s->fill->signal, s->err);
		if (r < 0 || !found.name) {
			return r < 0 ? r : not_known(s, found.why);
		}
		s->why = found.why;
	}
	buf_puts(&s->out, found.address);
	return 0;
}

/** Find MASTER_ADDR, as the workload gets it. */
static int find_master_addr(struct search *s, const char **out) {
	const struct setting *setting = &s->flow->input.master_addr;
	bool set = env_value(s->flow->env, "MASTER_ADDR");
	if (!set && s->alone) {
		*out = LOOPBACK;
		if (setting->value) {
			*out = setting->value;
			s->why = setting->from;
		}
		return 0;
	}
	if (!set && (!s->cluster || !s->cluster->master_addr.len)) {
		return not_known(s, "set MASTER_ADDR, or pass --master-addr or --hosts");
	}
	s->why = set ? "MASTER_ADDR" : s->cluster->master_addr_why;
	return master_host(s->flow, out, s->err);
}

/** Append the address of the master's name; on the master itself, the first one that this machine has. */
static int put_master_ip(struct search *s) {
	const char *known = s->alone || one_node(s) ? LOOPBACK : s->fill->stand_in;
	struct addresses found = {0};
	struct wait_for wait = {.host = known, .timeout_ms = s->fill->wait_ms, .found = &found};
	struct wait_end end = {0};
	uint32_t rank = 1, i = 0;
	int r = known ? 0 : find_master_addr(s, &wait.host);
	if (known || r < 0) {
		buf_puts(&s->out, known ? known : "");
		return r;
	}
	r = wait_until_up(&wait, &end);
	const struct quoted host = quote_text(wait.host);
	if (r == -EINTR) {
		s->fill->signal = end.signal;
		return err_set(s->err, EINTR, "SIG%s came while the name %s was looked up",
			       signal_name(end.signal).s, host.s);
	}
	if (r < 0 || !found.n || end.loopback) {
		return err_set(
			s->err, EINVAL, "{master-ip}: %s %s%s", host.s,
			end.loopback
				? "is the loopback here, which other nodes cannot reach; pass --master-addr"
				: "does not resolve: ",
			end.loopback ? "" : end.failure.text);
	}
	bool master = !s->job_script && find_node_rank(s, &rank) == 0 && rank == 0;
	while (master && i < found.n && !own_address(&found.at[i])) {
		i++;
	}
	if (i == found.n) {
		return err_set(
			s->err, EINVAL,
			"{master-ip}: %s is no address of this node, which is the master; pass --master-addr",
			host.s);
	}
	char text[ADDRESS_TEXT];
	address_text(&found.at[i], text);
	buf_puts(&s->out, text);
	s->why = arena_format(s->out.arena, "the address of %s", host.s);
	return 0;
}

/** Append the master's address, or ADDR:PORT. */
static int put_master(struct search *s) {
	const char *addr = NULL;
	uint32_t port = 0;
	int r = find_master_addr(s, &addr);
	if (r < 0) {
		return r;
	}
	if (s->id == FILL_MASTER_ADDR) {
		buf_puts(&s->out, addr);
		return 0;
	}
	const char *why = s->why;
	r = find_master_port(s, &port);
	if (r < 0) {
		return r;
	}
	s->why = arena_format(s->out.arena, "%s; %s", why, s->why);
	endpoint_put(&s->out, str_of(addr), port);
	return 0;
}

static int put_variable(struct search *s, const struct placeholder *p) {
	const char *value = env_find(s->flow->env, p->name);
	if (!value && p->id == FILL_SPREAD) {
		value = "";
	}
	if (!value) {
		return placeholder_refuse(p, "the variable is not set", "", s->err);
	}
	buf_puts(&s->out, value);
	s->why = "the program's environment";
	return 0;
}

static int put_value(struct search *s, const struct placeholder *p) {
	switch (p->id) {
	case FILL_MASTER_ADDR:
	case FILL_MASTER:
		return put_master(s);
	case FILL_NODE_ADDR:
		return put_node_addr(s);
	case FILL_MASTER_IP:
		return put_master_ip(s);
	case FILL_HOSTS:
	case FILL_WORKERS:
		return put_hosts(s);
	case FILL_VARIABLE:
	case FILL_SPREAD:
		return put_variable(s, p);
	default:
		return put_number(s);
	}
}

int fill_find_value(struct fill *fill, const struct placeholder *p, const char **value, const char **why,
		    struct err *err) {
	struct search s = search_of(fill, err);
	s.id = p->id;
	s.what = p->text;
	s.number = p->number;
	int r = put_value(&s, p);
	*value = buf_text(&s.out);
	*why = s.why;
	return r;
}

int fill_find_role(struct fill *fill, enum role *out, struct err *err) {
	struct search s = search_of(fill, err);
	bool ranks = fill->flow->started_by && (!s.cluster || s.cluster->scope == SCOPE_TASK);
	uint32_t number = 0;
	s.what = STR("the role");
	int r = s.alone ? 0 : ranks ? find_task_number(&s, FILL_RANK, &number) : find_node_rank(&s, &number);
	*out = number == 0 ? ROLE_MASTER : ROLE_WORKERS;
	return r;
}
