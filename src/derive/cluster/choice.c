// SPDX-License-Identifier: Apache-2.0

#include "cluster/choice.h"

#include "cluster/source.h"
#include "net/address.h"

#include <ctype.h>
#include <strings.h>

/** The leading bytes of an address that hosts of one network usually share: 10.0.0. */
#define NETWORK_BYTES 3

static bool is_ipv4(struct str host, struct address *out) {
	return address_read(host, out) && out->any.sa_family == AF_INET;
}

/** Cut the next element off *@name: a byte in lower case, '0' for a whole number, '\0' at the end. */
static char next_of_shape(struct str *name) {
	if (!name->len || name->p[0] == '.') {
		return '\0';
	}
	size_t n = 0;
	for (; n < name->len && isdigit((unsigned char)name->p[n]); n++) {
	}
	char c = n ? '0' : (char)tolower((unsigned char)name->p[0]);
	*name = str_from(*name, n ? n : 1);
	return c;
}

/** Whether @a and @b differ in their numbers only: "n1" and "n12.example.org". */
static bool same_shape(struct str a, struct str b) {
	struct address x, y;
	bool first = is_ipv4(a, &x), second = is_ipv4(b, &y);
	if (first || second) {
		return first && second && memcmp(&x.v4.sin_addr, &y.v4.sin_addr, NETWORK_BYTES) == 0;
	}
	for (;;) {
		char c = next_of_shape(&a);
		if (c != next_of_shape(&b)) {
			return false;
		}
		if (!c) {
			return true;
		}
	}
}

/** Whether @host, which is not in @hosts, has a name of the same form. */
static bool is_sibling(const struct hosts *hosts, struct str host) {
	struct address unused;
	bool like = false, named = !is_ipv4(host, &unused);
	if (str_find(host, ':') < host.len) {
		return false;
	}
	for (uint32_t i = 0; i < hosts->n; i++) {
		struct str other = hosts_at(hosts, i);
		if (named && host_same_label(other, host)) {
			return false;
		}
		like = like || same_shape(other, host);
	}
	return like;
}

/** Whether the processes of @c are on several nodes. */
static bool has_several_nodes(const struct cluster *c) {
	if (cluster_shares_node(c)) {
		return false;
	}
	return c->nnodes != UNKNOWN ? c->nnodes > 1 : c->launcher && c->task.local_size != UNKNOWN;
}

/**
 * Whether @host is the name that a manager gives the master in rank 0 alone: "localhost" of Kubeflow's
 * operators of 2020.
 */
static bool is_own_name(const struct cluster *c, struct str host) {
	bool by_manager = c->source && !c->source->by_hand && !c->source->nodes_only;
	return by_manager && str_eq(host, c->place.master_addr) && c->place.node_rank == c->place.master;
}

const char *choice_doubt(struct arena *arena, const struct cluster *c, struct str host) {
	bool listed = hosts_find_loosely(&c->place.hosts, host) < c->place.hosts.n;
	bool by_manager = str_eq(host, c->place.master_addr);
	if (listed || !has_several_nodes(c)) {
		return NULL;
	}
	if (host_is_itself(host) && !is_own_name(c, host)) {
		return "leads each node to itself";
	}
	if (by_manager) {
		return NULL;
	}
	return is_sibling(&c->place.hosts, host)
		       ? arena_format(arena, "is named like the hosts of %s, but is none of them",
				      c->place.hosts_from)
		       : NULL;
}
