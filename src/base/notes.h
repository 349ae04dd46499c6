// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Warnings, collected by whoever has something to say, printed (or listed by explain) by cmd/. */

#include "base/arena.h"

struct note {
	const char *text;
	const struct note *next;
};

struct notes {
	struct arena *arena;
	const struct note *first;
	/** The newest, whose `next` is NULL. */
	struct note *last;
};

/** Add one sentence: lower case, no full stop. */
void notes_add(struct notes *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));
