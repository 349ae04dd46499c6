// SPDX-License-Identifier: Apache-2.0

#include "base/table.h"

#include "base/hash.h"

static void make_slots(struct table *table, uint32_t size) {
	table->slots = arena_array(table->arena, size, sizeof(*table->slots));
	memset(table->slots, 0, size * sizeof(*table->slots));
	table->names = arena_array(table->arena, size / 2, sizeof(*table->names));
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
	memcpy(out->names, table->names, table->n * sizeof(*table->names));
}

/** The slot of @name, or the free slot for it. */
static uint32_t *slot_of(const struct table *table, struct str name) {
	// The upper half of the hash is the better one (base/hash.h).
	uint32_t at = (uint32_t)(hash_text(name) >> 32) & (table->size - 1);
	while (table->slots[at] && !str_eq(table->names[table->slots[at] - 1].name, name)) {
		at = (at + 1) & (table->size - 1);
	}
	return &table->slots[at];
}

uint32_t *table_find(const struct table *table, struct str name) {
	uint32_t slot = *slot_of(table, name);
	return slot ? &table->names[slot - 1].number : NULL;
}

static void grow(struct table *table) {
	const struct table_name *old = table->names;
	make_slots(table, table->size * 2);
	for (uint32_t i = 0; i < table->n; i++) {
		table->names[i] = old[i];
		*slot_of(table, old[i].name) = i + 1;
	}
}

uint32_t *table_put(struct table *table, struct str name) {
	uint32_t *slot = slot_of(table, name);
	if (!*slot) {
		if (table->n * 2 >= table->size) {
			grow(table);
			slot = slot_of(table, name);
		}
		table->names[table->n].name = name;
		table->names[table->n].number = 0;
		*slot = ++table->n;
	}
	return &table->names[*slot - 1].number;
}
