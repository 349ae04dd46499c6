// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The connections that have not proved themselves, counted by sender: a sender that comes again and again
 * takes no place from others. All addresses of an IPv6 network of 64 bits may be one sender's, so they are
 * counted together, too.
 */

#include "net/lookup.h"

/** An address from which connections came, or a network, and how many of them have not proved themselves. */
struct sender {
	/** 4 or 16 bytes of an address; 8 of a network. */
	unsigned char bytes[16];
	size_t len;
	uint32_t n;
	/** Of an IPv6 address; else NULL. */
	struct sender *network;
	struct sender *next;
};

#define SENDER_BUCKETS 512

/** Hash buckets, and a free list. */
struct unproved {
	struct sender *lists[SENDER_BUCKETS];
	struct sender *free;
};

struct arena;

/** Count one more from @address. */
struct sender *unproved_join(struct unproved *all, struct arena *arena, const struct address *address);

/** One of @sender's has proved itself, or has gone. */
void unproved_leave(struct unproved *all, struct sender *sender);

/** Whether @a has more than @b: first its network, then its address. Returns above, below or 0. */
int unproved_compare(const struct sender *a, const struct sender *b);
