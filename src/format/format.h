// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What a format for environments is, and the table of them. */

#include "base/buf.h"

struct format {
	const char *name;
	const char *about;
	/** Why it cannot carry this variable, as one clause, or NULL. */
	const char *(*refuses)(struct str name, struct str value);
	/** Append one variable; @n were written before it. */
	void (*put)(struct buf *out, struct str name, struct str value, uint32_t n);
	/** What stands before the first and behind the last, or NULL. */
	const char *head;
	const char *tail;
};

/** The first is the default; NULL at the end. */
extern const struct format *const formats[];

extern const struct format format_shell;
extern const struct format format_docker;
extern const struct format format_json;
extern const struct format format_null;

/** The format called @name, or NULL. */
const struct format *format_find(const char *name);
