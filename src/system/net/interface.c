// SPDX-License-Identifier: Apache-2.0

#include "net/interface.h"

#include "net/lookup.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <unistd.h>

/** The source address that the kernel would use for @to. Returns whether there is a route. */
static bool local_address(const struct address *to, struct address *out) {
	int fd = socket(to->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool found = fd >= 0 && connect(fd, &to->any, to->len) == 0;
	out->len = sizeof(out->v6);
	found = found && getsockname(fd, &out->any, &out->len) == 0;
	if (fd >= 0) {
		close(fd);
	}
	return found;
}

/** The interface with the address @local, preferably not the loopback; NULL if there is none. */
static const char *interface_with(struct arena *arena, const struct address *local, bool *loopback) {
	struct ifaddrs *all;
	const struct ifaddrs *found = NULL;
	if (getifaddrs(&all) < 0) {
		return NULL;
	}
	for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
		bool better = !found || (found->ifa_flags & IFF_LOOPBACK);
		struct address own;
		if (better && i->ifa_addr && address_take(&own, i->ifa_addr) && address_same(&own, local)) {
			found = i;
		}
	}
	// The loopback has all addresses of 127.0.0.0/8, but only one is listed.
	*loopback = found && (found->ifa_flags & IFF_LOOPBACK);
	const char *name = found ? arena_text(arena, found->ifa_name, strlen(found->ifa_name)) : NULL;
	freeifaddrs(all);
	return name;
}

/** Any port would do, because no packet is sent. */
#define DISCARD_PORT 9

int way_to(struct arena *arena, struct str to, struct way *way, int *signal, struct err *err) {
	struct addresses all;
	const char *host = arena_text(arena, to.p, to.len);
	*way = (struct way){0};
	int r = lookup_now(host, DISCARD_PORT, &all, signal, err);
	if (r < 0) {
		const bool no_name = err->code == ENOENT;
		way->why = arena_format(arena, "%s does not resolve%s%s", quote_text(host).s,
					no_name ? "" : ": ", no_name ? "" : err->text);
		return r == -EINTR ? r : 0;
	}
	way->why = arena_format(arena, "there is no route to %s", quote_text(host).s);
	for (uint32_t i = 0; i < all.n && !way->name; i++) {
		struct address local;
		if (local_address(&all.at[i], &local)) {
			way->name = interface_with(arena, &local, &way->loopback);
			char *text = arena_alloc(arena, ADDRESS_TEXT);
			address_text(&local, text);
			way->address = text;
			way->own = address_same(&all.at[i], &local);
		}
	}
	return 0;
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
	// The list has each interface once by itself, and once for each of its addresses.
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
		struct address ignored;
		own->addressed = own->addressed || (i->ifa_addr && address_take(&ignored, i->ifa_addr));
	}
	freeifaddrs(all);
	return n;
}
