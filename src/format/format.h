// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Output formats for environments, and the table of them. */

#include "base/buf.h"

struct format {
	const char *name;
	const char *about;
	/** Why the format cannot hold this variable, as a clause; NULL if it can. */
	const char *(*refuses)(struct str name, struct str value);
	/** Append one variable, after @n others. */
	void (*put)(struct buf *out, struct str name, struct str value, uint32_t n);
	/** Text before the first variable and after the last, or NULL. */
	const char *head;
	const char *tail;
};

/** All formats. The first is the default; NULL ends the table. */
extern const struct format *const formats[];

extern const struct format format_shell;
extern const struct format format_docker;
extern const struct format format_json;
extern const struct format format_null;

/** The format called @name, or NULL. */
const struct format *format_find(const char *name);
