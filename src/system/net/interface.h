// SPDX-License-Identifier: Apache-2.0
#pragma once

/** This machine's network interfaces, and which of them is used to reach a host. */

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/** The route to a host. */
struct way {
	/** The interface; NULL: there is no route, or the host does not resolve. */
	const char *name;
	/** This machine's address on that interface. */
	const char *address;
	/** The host is this machine. */
	bool own;
	/** The interface is the loopback. */
	bool loopback;
	/** If @name is NULL, the reason: a clause. */
	const char *why;
};

/**
 * Find the route to @host, a name or an address. A name is looked up by lookup_now(). No packet is sent to
 * the host: a connected UDP socket shows the source address that the kernel would use.
 *
 * Returns 0, also if there is no route; -EINTR if a signal ended the look-up: then *@signal is that signal.
 */
int way_to(struct arena *arena, struct str host, struct way *out, int *signal, struct err *err);

/** An interface of this machine. */
struct own_interface {
	const char *name;
	bool up, loopback;
	/** It has an address of IPv4 or IPv6. */
	bool addressed;
};

/** List all interfaces in *@out. Returns how many there are; 0 if the kernel does not list them. */
uint32_t interfaces_list(struct arena *arena, struct own_interface **out);
