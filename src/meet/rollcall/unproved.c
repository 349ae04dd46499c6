// SPDX-License-Identifier: Apache-2.0

#include "rollcall/unproved.h"

#include "base/arena.h"
#include "base/hash.h"

/** The bytes of an IPv6 network. */
#define NETWORK_BYTES 8

static struct sender **list_of(struct unproved *all, struct str bytes) {
	return &all->lists[hash_text(bytes) % SENDER_BUCKETS];
}

static struct str bytes_of(const struct sender *sender) {
	return (struct str){(const char *)sender->bytes, sender->len};
}

static struct sender *join(struct unproved *all, struct arena *arena, struct str bytes) {
	struct sender **list = list_of(all, bytes), *sender = *list;
	while (sender && !str_eq(bytes_of(sender), bytes)) {
		sender = sender->next;
	}
	if (!sender) {
		sender = all->free;
		if (sender) {
			all->free = sender->next;
		} else {
			sender = arena_alloc(arena, sizeof(*sender));
		}
		*sender = (struct sender){.len = bytes.len, .next = *list};
		memcpy(sender->bytes, bytes.p, bytes.len);
		*list = sender;
	}
	sender->n++;
	return sender;
}

static void leave(struct unproved *all, struct sender *sender) {
	if (--sender->n > 0) {
		return;
	}
	struct sender **link = list_of(all, bytes_of(sender));
	while (*link != sender) {
		link = &(*link)->next;
	}
	*link = sender->next;
	sender->next = all->free;
	all->free = sender;
}

struct sender *unproved_join(struct unproved *all, struct arena *arena, const struct address *address) {
	struct str bytes = address_bytes(address);
	struct sender *sender = join(all, arena, bytes);
	if (bytes.len > NETWORK_BYTES) {
		sender->network = join(all, arena, (struct str){bytes.p, NETWORK_BYTES});
	}
	return sender;
}

void unproved_leave(struct unproved *all, struct sender *sender) {
	if (sender->network) {
		leave(all, sender->network);
	}
	leave(all, sender);
}

int unproved_compare(const struct sender *a, const struct sender *b) {
	uint32_t all_of_a = a->network ? a->network->n : a->n, all_of_b = b->network ? b->network->n : b->n;
	return all_of_a != all_of_b ? (all_of_a > all_of_b ? 1 : -1) : (a->n > b->n) - (a->n < b->n);
}
