// SPDX-License-Identifier: Apache-2.0
#pragma once

/** A hash table from names to numbers. Names are not copied, and must not change. */

#include "base/arena.h"
#include "base/str.h"

#include <stdint.h>

struct table {
	struct arena *arena;
	/** The names, in the order of insertion. */
	struct table_name {
		struct str name;
		uint32_t number;
	} * names;
	uint32_t n;
	/** Each the index + 1 in `names`; 0: free. At most half of the slots are used. */
	uint32_t *slots;
	/** The number of slots, a power of two. */
	uint32_t size;
};

/** Initialise @table with room for @names names; it grows when there are more. */
void table_init(struct table *table, struct arena *arena, uint32_t names);

/** Initialise @out as a copy of @table as it is now. */
void table_copy(const struct table *table, struct table *out);

/** The number of @name; NULL if it is not in the table. */
uint32_t *table_find(const struct table *table, struct str name);

/** The number of @name. If it is not in the table, add it with the number 0. name.p must not be NULL. */
uint32_t *table_put(struct table *table, struct str name);
