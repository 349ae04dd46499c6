// SPDX-License-Identifier: Apache-2.0

/**
 * The places of those that have not proved themselves, by address: who comes from one address again
 * and again takes no place from others.
 */

#include "rollcall/coordinator.h"

#include "base/hash.h"

/** An address from which somebody came, and how many of them have not proved themselves. */
struct sender {
	struct address address;
	uint32_t n;
	struct sender *next;
};

static struct sender **bucket_of(struct coordinator *co, const struct address *address) {
	return &co->senders[hash_text(address_bytes(address)) % SENDER_BUCKETS];
}

static bool same_address(const struct address *a, const struct address *b) {
	return str_eq(address_bytes(a), address_bytes(b));
}

void place_take(struct coordinator *co, struct guest *guest) {
	struct sender **bucket = bucket_of(co, &guest->peer), *sender = *bucket;
	while (sender && !same_address(&sender->address, &guest->peer)) {
		sender = sender->next;
	}
	if (!sender) {
		sender = co->free_senders;
		if (sender) {
			co->free_senders = sender->next;
		} else {
			sender = arena_alloc(co->arena, sizeof(*sender));
		}
		*sender = (struct sender){guest->peer, 0, *bucket};
		*bucket = sender;
	}
	sender->n++;
	guest->sender = sender;
	co->n_unproved++;
}

void place_leave(struct coordinator *co, struct guest *guest) {
	struct sender *sender = guest->sender;
	guest->sender = NULL;
	co->n_unproved--;
	if (--sender->n > 0) {
		return;
	}
	struct sender **link = bucket_of(co, &sender->address);
	while (*link != sender) {
		link = &(*link)->next;
	}
	*link = sender->next;
	sender->next = co->free_senders;
	co->free_senders = sender;
}

/** Whether a listed host has @address, as far as hosts were looked up. */
static bool is_listed(const struct coordinator *co, const struct address *address) {
	for (uint32_t i = 0; i < co->n_answers; i++) {
		const struct addresses *addresses = &co->answers[i].addresses;
		for (uint32_t k = 0; k < addresses->n; k++) {
			if (same_address(&addresses->at[k], address)) {
				return true;
			}
		}
	}
	return false;
}

/** Whether @a has to go rather than @b, which came earlier. */
static bool goes_first(const struct coordinator *co, const struct guest *a, const struct guest *b) {
	if (a->sender->n != b->sender->n) {
		return a->sender->n > b->sender->n;
	}
	return is_listed(co, &b->peer) && !is_listed(co, &a->peer);
}

struct guest *place_to_clear(const struct coordinator *co) {
	struct guest *first = co->unproved.first;
	for (struct guest *guest = first; guest; guest = guest->next) {
		first = goes_first(co, guest, first) ? guest : first;
	}
	return first;
}
