// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Resolves a host name to addresses, with a deadline. */

#include "net/watch.h"

#include <netinet/in.h>

/** More than any host has; further addresses are ignored. */
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

/**
 * Write @address, without its port, into @text. (inet_ntop() would link printf() into the program.)
 */
void address_text(const struct address *address, char text[ADDRESS_TEXT]);

/**
 * Look @host up, and store its addresses, with @port, in *@out.
 *
 * If a name server does not answer, the C library's resolver blocks for seconds, ignores our
 * deadline, and cannot be stopped. So it runs in a child, which is killed at the deadline or on a
 * signal. An address needs neither a child nor the resolver.
 *
 * Returns 0; -EAGAIN if the name does not resolve (yet) or the deadline passed, with
 * @watch->failure set; -EINTR if a signal came.
 */
int lookup(struct watch *watch, const char *host, uint16_t port, struct addresses *out);
