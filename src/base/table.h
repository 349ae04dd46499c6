// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * A hash table from names to numbers: where in a list a name stands. The names are not copied, and must
 * stay as they are.
 */

#include "base/arena.h"
#include "base/str.h"

#include <stdint.h>

struct table {
	struct arena *arena;
	/** A free slot has no name: p is NULL. The table is never more than half full. */
	struct table_slot {
		struct str name;
		uint32_t number;
	} * slots;
	/** The number of slots, a power of two, and of names. */
	uint32_t size;
	uint32_t n;
};

/** Begin @table, with room for @names names; it grows when there are more. */
void table_init(struct table *table, struct arena *arena, uint32_t names);

/** Begin @out as a copy of @table as it is now. */
void table_copy(const struct table *table, struct table *out);

/** The number of @name; NULL: it is not there. */
uint32_t *table_find(const struct table *table, struct str name);

/** The number of @name, which is added with the number 0 if it is not there. Its p is not NULL. */
uint32_t *table_put(struct table *table, struct str name);
