// SPDX-License-Identifier: Apache-2.0

#include "rollcall/unproved.h"

#include "base/arena.h"
#include "base/hash.h"

static struct sender **list_of(struct unproved *all, const struct address *address) {
	return &all->lists[hash_text(address_bytes(address)) % SENDER_BUCKETS];
}

struct sender *unproved_join(struct unproved *all, struct arena *arena, const struct address *address) {
	struct sender **list = list_of(all, address), *sender = *list;
	while (sender && !str_eq(address_bytes(&sender->address), address_bytes(address))) {
		sender = sender->next;
	}
	if (!sender) {
		sender = all->free;
		if (sender) {
			all->free = sender->next;
		} else {
			sender = arena_alloc(arena, sizeof(*sender));
		}
		*sender = (struct sender){*address, 0, *list};
		*list = sender;
	}
	sender->n++;
	return sender;
}

void unproved_leave(struct unproved *all, struct sender *sender) {
	if (--sender->n > 0) {
		return;
	}
	struct sender **link = list_of(all, &sender->address);
	while (*link != sender) {
		link = &(*link)->next;
	}
	*link = sender->next;
	sender->next = all->free;
	all->free = sender;
}
