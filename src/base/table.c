// SPDX-License-Identifier: Apache-2.0

#include "base/table.h"

#include "base/hash.h"

static void make_slots(struct table *table, uint32_t size) {
	table->slots = arena_array(table->arena, size, sizeof(*table->slots));
	memset(table->slots, 0, size * sizeof(*table->slots));
	table->size = size;
}

void table_init(struct table *table, struct arena *arena, uint32_t names) {
	uint32_t size = 8;
	while (size < names * 2) {
		size *= 2;
	}
	*table = (struct table){.arena = arena};
	make_slots(table, size);
}

void table_copy(const struct table *table, struct table *out) {
	*out = *table;
	make_slots(out, table->size);
	memcpy(out->slots, table->slots, table->size * sizeof(*table->slots));
}

/** The slot of @name, or the free one where it belongs. */
static struct table_slot *slot_of(const struct table *table, struct str name) {
	// The upper half of the hash is the better one (base/hash.h).
	uint32_t at = (uint32_t)(hash_text(name) >> 32) & (table->size - 1);
	while (table->slots[at].name.p && !str_eq(table->slots[at].name, name)) {
		at = (at + 1) & (table->size - 1);
	}
	return &table->slots[at];
}

uint32_t *table_find(const struct table *table, struct str name) {
	struct table_slot *slot = slot_of(table, name);
	return slot->name.p ? &slot->number : NULL;
}

static void grow(struct table *table) {
	const struct table_slot *old = table->slots;
	uint32_t size = table->size;
	make_slots(table, size * 2);
	for (uint32_t i = 0; i < size; i++) {
		if (old[i].name.p) {
			*slot_of(table, old[i].name) = old[i];
		}
	}
}

uint32_t *table_put(struct table *table, struct str name) {
	struct table_slot *slot = slot_of(table, name);
	if (!slot->name.p) {
		if (table->n * 2 >= table->size) {
			grow(table);
			slot = slot_of(table, name);
		}
		*slot = (struct table_slot){.name = name};
		table->n++;
	}
	return &slot->number;
}
