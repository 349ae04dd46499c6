// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * Those that have not proved themselves, counted by address: who comes from one address again and
 * again takes no place from others.
 */

#include "net/lookup.h"

/** An address from which somebody came, and how many of them have not proved themselves. */
struct sender {
	struct address address;
	uint32_t n;
	struct sender *next;
};

#define SENDER_BUCKETS 512

/** By hash, and some that are unused. */
struct unproved {
	struct sender *lists[SENDER_BUCKETS];
	struct sender *free;
};

struct arena;

/** Count one more from @address. */
struct sender *unproved_join(struct unproved *all, struct arena *arena, const struct address *address);

/** One of them has proved itself, or goes. */
void unproved_leave(struct unproved *all, struct sender *sender);
