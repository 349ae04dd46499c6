// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Counts the connections that have not authenticated yet by their sender. If there are too many, those of the
 * sender with the most are closed, so a sender that floods the coordinator does not keep others out. One
 * machine can have all addresses of an IPv6 network of 64 bits, so they are also counted together.
 */

#include "net/lookup.h"

/** An address, or an IPv6 network. */
struct sender {
	/** 4 or 16 bytes of an address, or 8 bytes of a network; @len has the number. */
	unsigned char bytes[16];
	size_t len;
	/** The number of its connections that have not authenticated. */
	uint32_t n;
	/** The network of an IPv6 address; else NULL. */
	struct sender *network;
	/** The next sender in the list. */
	struct sender *next;
};

#define SENDER_BUCKETS 512

/** Hash buckets, and a free list. */
struct unproved {
	struct sender *lists[SENDER_BUCKETS];
	struct sender *free;
};

struct arena;

/** Count one more connection from @address. Returns its sender. */
struct sender *unproved_join(struct unproved *all, struct arena *arena, const struct address *address);

/** Count one connection of @sender less: it has authenticated, or was closed. */
void unproved_leave(struct unproved *all, struct sender *sender);

/**
 * Compare the number of connections of @a and @b: first of their networks, then of their addresses. Returns a
 * positive number if @a has more, a negative one if @b has more, or 0.
 */
int unproved_compare(const struct sender *a, const struct sender *b);
