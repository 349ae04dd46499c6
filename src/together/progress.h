// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * --progress: a program that hangs does not end, but it writes no file any more either. The newest change of the files
 * that a pattern names is looked at ten times in the time allowed, and at its end. A start has twice that for its first
 * one. A change counts by our own clock; how old it is, by the clock of the files, as nodes are compared by that.
 */

#include "base/buf.h"
#include "base/pattern.h"

struct progress {
	/** The files; its text is NULL: none. */
	struct pattern files;
	uint64_t allowed_ms;

	// For progress.c.

	/** When to look next, on clock_now_ms()'s clock; CLOCK_NEVER: not any more. */
	uint64_t look_at;
	uint64_t looked_at;
	/** When it was written last, or the program started; and whether it was written since. */
	uint64_t written_at;
	bool written;
	/** The newest time of the files, in ns; 0: there are none. */
	uint64_t newest;
};

/** Read "FILE:DURATION", which @label names in messages. Returns 0; -EINVAL. */
int progress_read(struct arena *arena, const char *label, const char *value, struct progress *out,
		  struct err *err);

/** The program starts. */
void progress_begin(struct progress *progress);

/** Look at the files. Returns whether the time is over; then they are not looked at any more. */
bool progress_look(struct progress *progress);

/** How long ago it was written, or the program started, in ms. */
uint64_t progress_age(const struct progress *progress);

/** "no progress for 30m (FILE last written 31m ago)" */
void progress_put(const struct progress *progress, struct buf *out);
