// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * --progress: detects a program that hangs, because it does not write its files any more. The files that
 * match a pattern are looked at ten times in the time allowed, and at its end. After a start, the first write
 * may take twice the time allowed. Whether the time is over is judged by our own clock. How old the last
 * write is, is judged by the time of the file, because the coordinator compares that between nodes.
 *
 * A child process looks (look.h), and the caller never waits for it. If a look has not ended one interval
 * after the end of the time allowed, it counts as a look that saw no progress.
 */

#include "base/buf.h"
#include "base/err.h"
#include "base/pattern.h"
#include "together/look.h"

struct progress {
	/** The name of the option or variable, and its value, for messages. */
	const char *label, *value;
	/** The files to look at. If its text is NULL, --progress was not given. */
	struct pattern files;
	/** The time allowed between two writes. */
	uint64_t allowed_ms;
	/** A warning, which the caller prints and clears; empty: none. */
	struct err warning;
	/** When to call progress_step(), unless look.fd is readable before; CLOCK_NEVER: not any more. */
	uint64_t look_at;
	struct look look;

	// For progress.c. Times are on clock_now_ms()'s clock.

	/** When the last look began; and the last look that was answered. */
	uint64_t began_at, looked_at;
	/** Since when an answer is awaited; CLOCK_NEVER: no look is under way. */
	uint64_t asked_at;
	/** When a file was written last; if none was since the program's start, the time of that start. */
	uint64_t written_at;
	/** A file was written since the program's start. */
	bool written;
	/** The same, or since the last look of the start before: its last write may have come after that. */
	bool changed;
	/** A look was answered, in this start or before. */
	bool seen;
	/** Since the program's start: a look was answered; a warning said that no look can begin. */
	bool answered, warned;
};

/** Read @value, "FILE:DURATION". @label names it in messages. Returns 0; -EINVAL with @err. */
int progress_read(struct arena *arena, const char *label, const char *value, struct progress *out,
		  struct err *err);

/** Begin, because the program starts. Does nothing without --progress. */
void progress_begin(struct progress *progress);

/**
 * Read an answer and begin a look, if they are due. Returns whether the time allowed is over; then looks have
 * ended.
 */
bool progress_step(struct progress *progress);

/** Stop looking. Does not wait for a look that is under way. */
void progress_end(struct progress *progress);

/** The time since the last write, or since the program's start if no file was written, in ms. */
uint64_t progress_age(const struct progress *progress);

/**
 * Append "no progress for 30m (FILE last written 31m ago)", or "no progress for 30m (FILE does not answer,
 * for 3m now; last written 33m ago)".
 */
void progress_put(const struct progress *progress, struct buf *out);
