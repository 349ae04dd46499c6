// SPDX-License-Identifier: Apache-2.0

#include "flow/interface.h"

#include "net/interface.h"

/** Why no interface is needed, or NULL. */
static const char *why_not_needed(const struct cluster *c) {
	if (c->scope == SCOPE_ALLOCATION) {
		return "every task would inherit it, but interfaces have different names on other nodes";
	}
	if (cluster_has_one_node(c)) {
		return "all ranks share one node";
	}
	return c->master_addr.len ? NULL : "the hosts are not known";
}

/** Set *@out to @way, which leads to the other nodes. @why is a clause. Returns 0. */
static int found(const struct way *way, const char *why, struct interface *out) {
	*out = (struct interface){.name = way->name, .address = way->address, .why = why};
	return 0;
}

int interface_find(struct arena *arena, const struct cluster *c, struct interface *out, int *signal,
		   struct err *err) {
	const struct hosts *hosts = &c->place.hosts;
	*out = (struct interface){.why = why_not_needed(c)};
	if (out->why) {
		return 0;
	}
	uint32_t self = c->place.node_rank;
	bool is_master = self < hosts->n && str_eq(hosts_at(hosts, self), c->master_addr);
	struct way way = {.own = true};
	int r = is_master ? 0 : way_to(arena, c->master_addr, &way, signal, err);
	if (r < 0) {
		return r;
	}
	if (way.name && !way.own) {
		return found(&way, "it leads to the master", out);
	}
	if (way.own && self < hosts->n && hosts->n > 1) {
		// On this node, the interface that leads to another node is also the one that the
		// other nodes reach.
		struct way next;
		r = way_to(arena, hosts_at(hosts, self == 0 ? 1 : 0), &next, signal, err);
		if (r < 0) {
			return r;
		}
		if (next.name && !next.own) {
			return found(&next, "this is the master's node: it leads to another node", out);
		}
		way = way.name && !way.loopback ? way : next;
	}
	if (way.name && !way.loopback) {
		return found(&way, "it has the master's address", out);
	}
	out->why = way.name ? "the names of the nodes resolve to the loopback" : way.why;
	return 0;
}
