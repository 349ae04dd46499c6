// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Counts the records that an input pipeline writes to stdout. */

#include "base/str.h"

#include <stdint.h>

enum records_unit {
	/** Each line is a record. */
	RECORDS_LINES,
	RECORDS_BYTES,
	/** Only lines "samples=N" count; the last one is the result. */
	RECORDS_SAMPLES,
};

/** Names of the units, in this order, ended by NULL. */
extern const char *const records_unit_words[];

/** The count so far. */
struct reading {
	/** Lines or bytes. */
	uint64_t count;
	/** "samples=N" came last (with RECORDS_SAMPLES: ever), at `at_ms`; N counts instead of `count`. */
	bool has_samples;
	uint64_t samples;
	uint64_t at_ms;
};

/** Only this much of a line is examined. */
#define RECORDS_LINE 40

struct records {
	enum records_unit unit;
	struct reading now;
	/** The current partial line, as far as it fits; `len` is its whole length so far. */
	char line[RECORDS_LINE];
	size_t len;
};

/** Count @text, the next piece of output, which came at @now_ms. */
void records_take(struct records *records, struct str text, uint64_t now_ms);

/** End of file: count an unterminated line. */
void records_end(struct records *records, uint64_t now_ms);

/** Read "samples=N", with blanks allowed around it. Returns false for anything else. */
bool records_read_samples(struct str line, uint64_t *out);

/** A run of the pipeline. All times are from the same clock. */
struct run_window {
	uint64_t start_ms;
	/** When the warm-up ended, and the count then; 0: the pipeline ended before that. */
	uint64_t base_ms;
	struct reading base;
	uint64_t end_ms;
	struct reading end;
};

struct rate {
	/** Thousandths of a record per second; 0: nothing was counted. */
	uint64_t milli;
	/** The unit counted: RECORDS_SAMPLES if the pipeline wrote "samples=N". */
	enum records_unit unit;
	/**
	 * The rate includes start and warm-up: the pipeline ended before the warm-up did, wrote
	 * nothing after it, or wrote only one number of samples.
	 */
	bool whole_run;
};

struct rate records_rate(enum records_unit unit, const struct run_window *window);
