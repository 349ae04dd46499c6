// SPDX-License-Identifier: Apache-2.0

#include "cluster/rendezvous.h"

#include "cluster/choice.h"
#include "cluster/source.h"

#define ADDR "MASTER_ADDR"
#define PORT "MASTER_PORT"
/** The same for torchrun alone. */
#define TORCHRUN_ADDR "PET_MASTER_ADDR"
#define TORCHRUN_PORT "PET_MASTER_PORT"

uint32_t cluster_rank_around(const struct cluster *c, uint32_t master) {
	uint32_t rank = c->place.node_rank;
	if (rank == UNKNOWN || rank > master) {
		return rank;
	}
	return rank == master ? 0 : rank + 1;
}

uint32_t cluster_rendezvous_rank(const struct cluster *c) {
	return cluster_rank_around(c, c->master_node);
}

uint32_t cluster_node_at(const struct cluster *c, struct str host) {
	uint32_t node = hosts_find_loosely(&c->place.hosts, host);
	return node < c->place.hosts.n ? node : c->master_node;
}

static uint16_t port_of_job(const struct placement *place) {
	uint64_t job = 0;
	const char *p = place->job_id;
	for (; *p >= '0' && *p <= '9'; p++) {
		job = (job * 10 + (uint64_t)(*p - '0')) % PORT_SPAN;
	}
	// If the id does not begin with a number ("f2e73NP", "host.12.0"), use all of its bytes.
	for (bool text = p == place->job_id; text && *p; p++) {
		job = (job * 31 + (unsigned char)*p) % PORT_SPAN;
	}
	return (uint16_t)(PORT_BASE + (31 * job + place->step) % PORT_SPAN);
}

/** The host of rank 0, according to both layers; empty if it is not known. */
static struct str host_of_rank_0(const struct cluster *c) {
	if (cluster_shares_node(c)) {
		return c->place.node_rank < c->place.hosts.n ? hosts_at(&c->place.hosts, c->place.node_rank)
							     : STR("127.0.0.1");
	}
	if (c->place.master_addr.len) {
		return c->place.master_addr;
	}
	return c->place.hosts.n ? hosts_at(&c->place.hosts, c->place.master) : STR("");
}

/** Warn if the master @addr, which @from gives, is likely to be wrong. */
static void judge_choice(const struct input *in, const struct cluster *c, const char *from,
			 const char *addr) {
	const char *doubt = choice_doubt(in->arena, c, str_of(addr));
	struct str right = host_of_rank_0(c);
	if (doubt && right.len && !host_is_itself(right)) {
		notes_add(in->notes, "%s=%s %s; without it, the master is %s", from, quote_text(addr).s,
			  doubt, quote(right).s);
	} else if (doubt) {
		notes_add(in->notes, "%s=%s %s; name the host of rank 0 instead", from, quote_text(addr).s,
			  doubt);
	}
}

/** Use the master @addr, which the user gave by @from. If it is in the list, that node is number 0. */
static void choose_master(const struct input *in, struct cluster *c, const char *from, const char *addr,
			  const char *why) {
	c->master_addr = str_of(addr);
	c->master_addr_why = why;
	c->master_node = cluster_node_at(c, c->master_addr);
	judge_choice(in, c, from, addr);
}

/**
 * The host in the user's MASTER_ADDR; NULL if it is not set, or not valid. If it is not valid, warn, and
 * drop the address and port that a source read from it.
 */
static const char *valid_master_addr(const struct input *in, struct cluster *c) {
	const char *set = env_value(in->env, ADDR), *host = NULL;
	struct err err;
	if (set && host_read(in->arena, ADDR, set, &host, &err) < 0) {
		notes_add(in->notes, "%s; it stays as it is, and nothing is derived from it", err.text);
		if (c->place.master_addr.len && strcmp(c->place.master_addr_from, ADDR) == 0) {
			c->place.master_addr = STR("");
		}
		if (c->place.port && strcmp(c->place.port_from, ADDR) == 0) {
			c->place.port = 0;
		}
	}
	return host;
}

/** Warn if the master, which follows from the cluster itself, is not known, or likely to be wrong. */
static void judge_derived(const struct input *in, const struct cluster *c, const char *from) {
	if (c->master_addr.len == 0) {
		if (cluster_is_vague(c) || env_value(in->env, ADDR)) {
			return;
		}
		if (c->place.hosts_lack && !c->launcher) {
			notes_add(in->notes, "%s does not give %s; MASTER_ADDR is left out", c->source->name,
				  c->place.hosts_lack);
			return;
		}
		notes_add(in->notes,
			  "%s describes %s but not the hosts, so MASTER_ADDR is left out: set it, "
			  "or pass --master-addr or --hosts",
			  c->launcher ? c->launcher->name : c->source->name,
			  c->launcher ? "the ranks" : "the cluster");
		return;
	}
	if (host_is_itself(c->master_addr)) {
		judge_choice(in, c, from, arena_text(in->arena, c->master_addr.p, c->master_addr.len));
	} else if (c->launcher && c->task.rank == 0 && c->place.node_rank < c->place.hosts.n &&
		   !str_eq(hosts_at(&c->place.hosts, c->place.node_rank), c->master_addr)) {
		// Only rank 0 can detect this; the other ranks use the list.
		notes_add(in->notes,
			  "rank 0 runs on %s, but MASTER_ADDR is %s, the first host, for all ranks: "
			  "set MASTER_ADDR, or pass --master-addr",
			  quote(hosts_at(&c->place.hosts, c->place.node_rank)).s, quote(c->master_addr).s);
	}
}

bool is_service_link(const char *value) {
	return value && strstr(value, "://");
}

/** The port that the user gave torchrun for the master of @c; or NULL. */
static const char *torchrun_port(const struct input *in, const struct cluster *c) {
	const char *port = env_value(in->env, TORCHRUN_PORT);
	struct str addr = str_of(env_value(in->env, TORCHRUN_ADDR));
	return is_service_link(port) || (addr.len && !str_eq(addr, c->master_addr)) ? NULL : port;
}

static int find_master_port(const struct input *in, struct cluster *c, struct err *err) {
	const char *set = env_value(in->env, PORT), *torchrun = torchrun_port(in, c);
	if (set && !is_service_link(set)) {
		c->master_port_why = "MASTER_PORT was set already";
		c->master_port_from = PORT;
		return parse_port(PORT, set, &c->master_port, err);
	}
	if (in->master_port.value) {
		c->master_port_why = c->master_port_from = in->master_port.from;
		return parse_port(in->master_port.from, in->master_port.value, &c->master_port, err);
	}
	if (torchrun) {
		// torchrun listens on this port, and --wait waits for it.
		c->master_port_why = c->master_port_from = TORCHRUN_PORT;
		return parse_port(TORCHRUN_PORT, torchrun, &c->master_port, err);
	}
	if (c->place.port) {
		c->master_port = c->place.port;
		c->master_port_why = c->master_port_from = c->place.port_from;
	} else if (c->place.shared_nodes && c->place.job_id) {
		c->master_port = port_of_job(&c->place);
		c->master_port_why = "derived from the job id, because jobs share nodes";
	} else {
		c->master_port = RENDEZVOUS_PORT;
		c->master_port_why = "the default";
	}
	return 0;
}

int rendezvous_find(const struct input *in, struct cluster *c, struct err *err) {
	if (cluster_is_single(c)) {
		c->master_addr = c->place.hosts.n ? hosts_at(&c->place.hosts, 0) : STR("127.0.0.1");
		c->master_port = RENDEZVOUS_PORT;
		c->master_addr_why = c->master_port_why = "a cluster of one";
		return 0;
	}
	c->master_node = c->place.master;
	const char *set = valid_master_addr(in, c);
	if (set) {
		choose_master(in, c, ADDR, set, "MASTER_ADDR was set already");
	} else if (in->master_addr.value) {
		choose_master(in, c, in->master_addr.from, in->master_addr.value, in->master_addr.from);
	} else {
		c->master_addr = host_of_rank_0(c);
		bool named = c->place.master_addr.len && c->master_addr.p == c->place.master_addr.p;
		c->master_addr_why = named ? c->place.master_addr_from : "the host of rank 0";
		judge_derived(in, c, named ? c->place.master_addr_from : c->place.hosts_from);
	}
	return find_master_port(in, c, err);
}
