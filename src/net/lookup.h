// SPDX-License-Identifier: Apache-2.0
#pragma once

/** From a host's name to its addresses, in a time that is ours to set. */

#include "net/watch.h"

#include <netinet/in.h>

/** More than any host has; the rest is left out. */
#define ADDRESSES_MAX 16

struct address {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
	socklen_t len;
};

struct addresses {
	uint32_t n;
	struct address at[ADDRESSES_MAX];
};

/** The longest text of an address, with a NUL. */
#define ADDRESS_TEXT INET6_ADDRSTRLEN

/** Write @address, without its port, into @text. (inet_ntop() would bring printf() along.) */
void address_text(const struct address *address, char text[ADDRESS_TEXT]);

/**
 * Look @host up, and put its addresses, with @port, into *@out.
 *
 * The C library's resolver blocks for seconds where a name server does not answer, whatever our deadline is, and cannot be stopped. So
 * it runs in a child, which is killed when the time is over or a signal comes. An address needs neither child nor resolver.
 *
 * Returns 0; -EAGAIN if it does not resolve (yet), with @watch->failure set; -EINTR if a signal came. A deadline that passes is -EAGAIN.
 */
int lookup(struct watch *watch, const char *host, uint16_t port, struct addresses *out);
