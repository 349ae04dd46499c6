// SPDX-License-Identifier: Apache-2.0

#include "net/interface.h"

#include "net/lookup.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

/** The bytes of an address, according to @sa's family. */
static struct str bytes_of(const struct sockaddr *sa) {
	if (sa->sa_family == AF_INET) {
		const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)sa;
		return (struct str){(const char *)&v4->sin_addr, sizeof(v4->sin_addr)};
	}
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)sa;
	return (struct str){(const char *)&v6->sin6_addr,
			    sa->sa_family == AF_INET6 ? sizeof(v6->sin6_addr) : 0};
}

static bool same_address(const struct sockaddr *a, const struct sockaddr *b) {
	return a->sa_family == b->sa_family && str_eq(bytes_of(a), bytes_of(b));
}

/** The source address that the kernel would use for @to. Returns whether there is a route. */
static bool local_address(const struct addrinfo *to, struct address *out) {
	int fd = socket(to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool found = fd >= 0 && connect(fd, to->ai_addr, to->ai_addrlen) == 0;
	out->len = sizeof(out->v6);
	found = found && getsockname(fd, &out->any, &out->len) == 0;
	if (fd >= 0) {
		close(fd);
	}
	return found;
}

/** The interface with the address @local, preferably not the loopback; NULL if there is none. */
static const char *interface_with(struct arena *arena, const struct sockaddr *local, bool *loopback) {
	struct ifaddrs *all;
	const struct ifaddrs *found = NULL;
	if (getifaddrs(&all) < 0) {
		return NULL;
	}
	for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
		bool better = !found || (found->ifa_flags & IFF_LOOPBACK);
		if (better && i->ifa_addr && same_address(i->ifa_addr, local)) {
			found = i;
		}
	}
	// The loopback has all addresses of 127.0.0.0/8, but only one is listed.
	*loopback = found && (found->ifa_flags & IFF_LOOPBACK);
	const char *name = found ? arena_text(arena, found->ifa_name, strlen(found->ifa_name)) : NULL;
	freeifaddrs(all);
	return name;
}

/** What the route to one host shows. */
struct way {
	const char *name;
	/** This machine's address on it. */
	const char *address;
	/** The host is this machine. */
	bool own;
	bool loopback;
	/** Why there is no name. */
	const char *why;
};

static struct way way_to(struct arena *arena, const char *host) {
	struct addrinfo hints = {.ai_socktype = SOCK_DGRAM}, *all;
	struct way way = {0};
	int r = getaddrinfo(host, "9", &hints, &all);
	if (r != 0) {
		way.why =
			arena_format(arena, "%s cannot be resolved: %s", quote_text(host).s, gai_strerror(r));
		return way;
	}
	way.why = arena_format(arena, "there is no route to %s", quote_text(host).s);
	for (const struct addrinfo *i = all; i && !way.name; i = i->ai_next) {
		struct address local;
		if (local_address(i, &local)) {
			way.name = interface_with(arena, &local.any, &way.loopback);
			char *text = arena_alloc(arena, ADDRESS_TEXT);
			address_text(&local, text);
			way.address = text;
			way.own = same_address(i->ai_addr, &local.any);
		}
	}
	freeaddrinfo(all);
	return way;
}

/** Why no interface is needed, or NULL. */
static const char *pointless(const struct cluster *c) {
	if (c->scope == SCOPE_ALLOCATION) {
		return "every task would inherit it, but interfaces have different names on other nodes";
	}
	if (c->nnodes == 1 || (c->launcher && c->task.local_size == c->task.world_size)) {
		return "all ranks share one node";
	}
	return c->master_addr.len ? NULL : "the hosts are not known";
}

const char *interface_find(struct arena *arena, const struct cluster *c, const char **address,
			   const char **why) {
	const struct hosts *hosts = &c->place.hosts;
	*why = pointless(c);
	if (*why) {
		return NULL;
	}
	uint32_t self = c->place.node_rank;
	bool is_master = self < hosts->n && str_eq(hosts_at(hosts, self), c->master_addr);
	struct way way = {.own = true};
	if (!is_master) {
		way = way_to(arena, arena_text(arena, c->master_addr.p, c->master_addr.len));
		if (way.name && !way.own) {
			*why = "it leads to the master";
			*address = way.address;
			return way.name;
		}
	}
	if (way.own && self < hosts->n && hosts->n > 1) {
		// On this node, the interface that leads to another node is also the one that the
		// other nodes reach.
		struct str other = hosts_at(hosts, self == 0 ? 1 : 0);
		struct way next = way_to(arena, arena_text(arena, other.p, other.len));
		if (next.name && !next.own) {
			*why = "this is the master's node: it leads to another node";
			*address = next.address;
			return next.name;
		}
		way = way.name && !way.loopback ? way : next;
	}
	if (way.name && !way.loopback) {
		*why = "it has the master's address";
		*address = way.address;
		return way.name;
	}
	*why = way.name ? "the names of the nodes resolve to the loopback" : way.why;
	return NULL;
}

uint32_t interfaces_list(struct arena *arena, struct own_interface **out) {
	struct ifaddrs *all;
	uint32_t n = 0, most = 0;
	if (getifaddrs(&all) < 0) {
		return 0;
	}
	for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
		most++;
	}
	*out = arena_array(arena, most + 1, sizeof(**out));
	// Each is there once for itself, and once for each of its addresses.
	for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
		struct own_interface *own = *out;
		while (own < *out + n && strcmp(own->name, i->ifa_name) != 0) {
			own++;
		}
		if (own == *out + n) {
			*own = (struct own_interface){
				.name = arena_text(arena, i->ifa_name, strlen(i->ifa_name)),
				.up = i->ifa_flags & IFF_UP,
				.loopback = i->ifa_flags & IFF_LOOPBACK};
			n++;
		}
		own->addressed = own->addressed || (i->ifa_addr && bytes_of(i->ifa_addr).len);
	}
	freeifaddrs(all);
	return n;
}
