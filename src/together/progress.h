// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * --progress: a program that hangs does not end, but it writes no file any more either. The files that a pattern names are
 * looked at ten times in the time allowed, and at its end. A start has twice that for its first write. A write counts by our
 * own clock; how old it is, by the clock of the files, as nodes are compared by that.
 *
 * A child looks (look.h), and nobody waits for it. If its look lasts for an interval longer than the time allowed, there was no
 * progress.
 */

#include "base/buf.h"
#include "base/err.h"
#include "base/pattern.h"
#include "together/look.h"

struct progress {
	/** The option or variable, and its text, for messages. */
	const char *label, *value;
	/** The files; its text is NULL: none. */
	struct pattern files;
	uint64_t allowed_ms;
	/** To be printed by the caller, who clears it; its text is empty: nothing. */
	struct err warning;
	/** When to call progress_step(), on clock_now_ms()'s clock, or if look.fd is ready; CLOCK_NEVER: not any more. */
	uint64_t look_at;
	struct look look;

	// For progress.c.

	/** When the last look began; and the last one that was answered. */
	uint64_t began_at, looked_at;
	/** Since when a look has not been answered; CLOCK_NEVER: none is under way. */
	uint64_t asked_at;
	/** When it was written last, or the program started; and whether it was written since. */
	uint64_t written_at;
	bool written;
	/** In this start: a look was answered; and it was said that none can begin. */
	bool answered, warned;
};

/** Read "FILE:DURATION", which @label names in messages. Returns 0; -EINVAL. */
int progress_read(struct arena *arena, const char *label, const char *value, struct progress *out,
		  struct err *err);

/** The program starts. */
void progress_begin(struct progress *progress);

/** Do what is due. Returns whether the time is over; then the files are not looked at any more. */
bool progress_step(struct progress *progress);

/** Look no more. It does not wait for a look that is under way. */
void progress_end(struct progress *progress);

/** How long ago it was written, or the program started, in ms. */
uint64_t progress_age(const struct progress *progress);

/** "no progress for 30m (FILE last written 31m ago)", or "(FILE does not answer, for 3m now; last written 33m ago)" */
void progress_put(const struct progress *progress, struct buf *out);
