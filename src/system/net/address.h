// SPDX-License-Identifier: Apache-2.0
#pragma once

/** IPv4 and IPv6 addresses, with a port. */

#include "base/str.h"

#include <netinet/in.h>

struct address {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
	socklen_t len;
};

/** The longest text of an address, in bytes, with its NUL. */
#define ADDRESS_TEXT INET6_ADDRSTRLEN

/**
 * Copy @from, with its port, to *@out. Returns false, with *@out unchanged, if it is neither IPv4 nor IPv6.
 */
bool address_take(struct address *out, const struct sockaddr *from);

/** Read @text, an address of IPv4 or IPv6 without a zone, with port 0. Returns whether it is one; @out is set then. */
bool address_read(struct str text, struct address *out);

/** Write @address, without its port, into @text. */
void address_text(const struct address *address, char text[ADDRESS_TEXT]);

/** The bytes of @address, without its port. */
struct str address_bytes(const struct address *address);

/** Whether two addresses are the same, apart from their ports. */
bool address_same(const struct address *a, const struct address *b);

/** Set the port of @address, in host byte order. */
void address_set_port(struct address *address, uint16_t port);

/**
 * Whether an address leads each node to itself: the loopback, 0.0.0.0 and ::. @bytes: 4 or 16 bytes, in
 * network byte order.
 */
bool address_is_itself(struct str bytes);
