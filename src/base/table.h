// SPDX-License-Identifier: Apache-2.0
#pragma once

/** A hash table: where in a list a name stands. The names are not copied, and must stay as they are. */

#include "base/arena.h"
#include "base/str.h"

#include <stdint.h>

struct table {
	struct arena *arena;
	/** The names, in the order in which they came. */
	struct table_name {
		struct str name;
		uint32_t number;
	} * names;
	uint32_t n;
	/** Each the index + 1 of a name, or 0: free. At most half of them are taken. */
	uint32_t *slots;
	/** The number of slots, a power of two. */
	uint32_t size;
};

/** Begin @table, with room for @names names; it grows when there are more. */
void table_init(struct table *table, struct arena *arena, uint32_t names);

/** Begin @out as a copy of @table as it is now. */
void table_copy(const struct table *table, struct table *out);

/** The number of @name; NULL: it is not there. */
uint32_t *table_find(const struct table *table, struct str name);

/** The number of @name, which is added with the number 0 if it is not there. Its p is not NULL. */
uint32_t *table_put(struct table *table, struct str name);
