// SPDX-License-Identifier: Apache-2.0

#include "net/interface.h"

#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/** An address of any family, without its port. */
struct address {
	struct sockaddr_storage sa;
	socklen_t len;
};

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
	out->len = sizeof(out->sa);
	found = found && getsockname(fd, (struct sockaddr *)&out->sa, &out->len) == 0;
	if (fd >= 0) {
		close(fd);
	}
	return found;
}

/** An interface that has the address: its name, or the address's own label; "" at first. */
struct found {
	char name[IF_NAMESIZE];
	bool loopback;
};

/** Take the interface of the address in @message if that is @local, but rather not the loopback. */
static void take_interface(const struct nlmsghdr *message, const struct address *local, struct found *out) {
	const struct ifaddrmsg *head = NLMSG_DATA(message);
	struct ifreq request = {.ifr_ifindex = (int)head->ifa_index};
	const char *label = request.ifr_name;
	bool is_it = false;
	unsigned left = (unsigned)IFA_PAYLOAD(message);
	for (const struct rtattr *part = IFA_RTA(head); RTA_OK(part, left); part = RTA_NEXT(part, left)) {
		struct str value = {RTA_DATA(part), RTA_PAYLOAD(part)};
		bool address = part->rta_type == IFA_ADDRESS || part->rta_type == IFA_LOCAL;
		is_it |= address && str_eq(value, bytes_of((const struct sockaddr *)&local->sa));
		label = part->rta_type == IFA_LABEL ? value.p : label;
	}
	int fd = is_it ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
	if (fd < 0) {
		return;
	}
	if (ioctl(fd, SIOCGIFNAME, &request) == 0 && ioctl(fd, SIOCGIFFLAGS, &request) == 0) {
		bool loopback = request.ifr_flags & IFF_LOOPBACK;
		if (!out->name[0] || !loopback) {
			memcpy(out->name, label, strnlen(label, sizeof(out->name) - 1) + 1);
			out->loopback = loopback;
		}
	}
	close(fd);
}

/**
 * The interface with the address @local, preferably not the loopback; NULL if there is none. The
 * kernel is asked for addresses only: getifaddrs() takes 2 KB, as it tells all about the links, too.
 */
static const char *interface_with(struct arena *arena, const struct address *local, bool *loopback) {
	struct {
		struct nlmsghdr head;
		struct ifaddrmsg what;
	} request = {{sizeof(request), RTM_GETADDR, NLM_F_DUMP | NLM_F_REQUEST, 0, 0},
		     {.ifa_family = (unsigned char)local->sa.ss_family}};
	_Alignas(struct nlmsghdr) char answer[8192];
	struct found found = {0};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	ssize_t n = fd < 0 ? -1 : send(fd, &request, sizeof(request), 0);
	while (n > 0 && (n = recv(fd, answer, sizeof(answer), MSG_DONTWAIT)) > 0) {
		const struct nlmsghdr *message = (const struct nlmsghdr *)(const void *)answer;
		// The last message is of another type.
		for (; NLMSG_OK(message, n) && message->nlmsg_type == RTM_NEWADDR;
		     message = NLMSG_NEXT(message, n)) {
			take_interface(message, local, &found);
		}
	}
	if (fd >= 0) {
		close(fd);
	}
	// The loopback has all addresses of 127.0.0.0/8, but only one is listed.
	*loopback = found.loopback;
	return found.name[0] ? arena_text(arena, found.name, strlen(found.name)) : NULL;
}

/** What the route to one host shows. */
struct way {
	const char *name;
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
		way.why = arena_format(arena, "%s cannot be resolved: %s", quote(str_of(host)).s,
				       gai_strerror(r));
		return way;
	}
	way.why = arena_format(arena, "there is no route to %s", quote(str_of(host)).s);
	for (const struct addrinfo *i = all; i && !way.name; i = i->ai_next) {
		struct address local;
		if (local_address(i, &local)) {
			way.name = interface_with(arena, &local, &way.loopback);
			way.own = same_address(i->ai_addr, (const struct sockaddr *)&local.sa);
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

const char *interface_find(struct arena *arena, const struct cluster *c, const char **why) {
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
			return next.name;
		}
		way = way.name && !way.loopback ? way : next;
	}
	if (way.name && !way.loopback) {
		*why = "it has the master's address";
		return way.name;
	}
	*why = way.name ? "the names of the nodes resolve to the loopback" : way.why;
	return NULL;
}
