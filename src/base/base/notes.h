// SPDX-License-Identifier: Apache-2.0
#pragma once

/** A list of warnings. cmd/ prints them, or `explain` lists them. */

#include "base/arena.h"

struct note {
	const char *text;
	const struct note *next;
};

struct notes {
	struct arena *arena;
	const struct note *first;
	/** The newest note; its `next` is NULL. */
	struct note *last;
};

/** Add one sentence: lower case, no full stop. */
void notes_add(struct notes *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));
