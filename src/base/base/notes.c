// SPDX-License-Identifier: Apache-2.0

#include "base/notes.h"

#include <stdarg.h>

void notes_add(struct notes *notes, const char *format, ...) {
	va_list args;
	va_start(args, format);
	const char *text = arena_vformat(notes->arena, format, args);
	va_end(args);

	struct note *note = arena_alloc(notes->arena, sizeof(*note));
	*note = (struct note){.text = text};
	if (notes->last) {
		notes->last->next = note;
	} else {
		notes->first = note;
	}
	notes->last = note;
}
