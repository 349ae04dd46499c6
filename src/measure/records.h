// SPDX-License-Identifier: Apache-2.0
#pragma once

/** How many records an input pipeline has made, by what it writes to stdout. */

#include "base/str.h"

#include <stdint.h>

enum records_unit {
	/** Each line is a record. */
	RECORDS_LINES,
	RECORDS_BYTES,
	/** Nothing but lines "samples=N" counts, the last of them. */
	RECORDS_SAMPLES,
};

/** Their names, in that order, ended by NULL. */
extern const char *const records_unit_words[];

/** As counted up to now. */
struct reading {
	/** Lines or bytes. */
	uint64_t count;
	/** The last line was "samples=N": `samples` is N, and `at_ms` is when that came. It counts, instead of `count`. */
	bool told;
	uint64_t samples;
	uint64_t at_ms;
};

/** The longest line that is looked at. */
#define RECORDS_LINE 40

struct records {
	enum records_unit unit;
	struct reading now;
	/** The line that has begun, as far as it fits; `len` counts on. */
	char line[RECORDS_LINE];
	size_t len;
};

/** Count @text, the next piece, which came at @now_ms. */
void records_take(struct records *records, struct str text, uint64_t now_ms);

/** Nothing more comes: a line without an end is one, too. */
void records_end(struct records *records, uint64_t now_ms);

/** Read "samples=N", blanks around it allowed. Returns false where it is something else. */
bool records_read_samples(struct str line, uint64_t *out);

/** A run of the pipeline, in milliseconds of one clock. */
struct run_window {
	uint64_t start_ms;
	/** When the warm-up was over, and what had been counted; 0: the pipeline ended before. */
	uint64_t base_ms;
	struct reading base;
	uint64_t end_ms;
	struct reading end;
};

struct rate {
	/** Thousandths of a record per second; 0: nothing was counted. */
	uint64_t milli;
	/** What it counts: RECORDS_SAMPLES where the pipeline told. */
	enum records_unit unit;
	/** Start and warm-up are in it: the pipeline ended before that was over, was silent after, or told one number only. */
	bool whole_run;
};

struct rate records_rate(enum records_unit unit, const struct run_window *window);
