// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Output formats for environments, and the table of them. */

#include "base/buf.h"

struct format {
	const char *name;
	/** Why the format cannot represent this variable, as a clause; NULL: it can. */
	const char *(*refuses)(struct str name, struct str value);
	/** Append one variable, after @n others. */
	void (*put)(struct buf *out, struct str name, struct str value, uint32_t n);
	/** Text before the first variable and after the last. */
	const char *head;
	const char *tail;
};

/** All formats. The first is the default; an entry without a name ends the table. */
extern const struct format formats[];

/** The format called @name, or NULL. */
const struct format *format_find(const char *name);
