// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Counts the records that an input pipeline writes to stdout. */

#include "base/str.h"

#include <stdint.h>

enum records_unit {
	/** Each line is a record. */
	RECORDS_LINES,
	RECORDS_BYTES,
	/** Only lines "samples=N" count. The last such line has the result. */
	RECORDS_SAMPLES,
};

/** The names of the units, in the order of enum records_unit, ended by NULL. */
extern const char *const records_unit_words[];

/** The count so far. */
struct reading {
	/** Lines or bytes. */
	uint64_t count;
	/**
	 * The last line (with RECORDS_SAMPLES: any line so far) was "samples=N": then N counts instead of `count`, and
	 * the line came at `at_ms`.
	 */
	bool has_samples;
	uint64_t samples;
	uint64_t at_ms;
};

/** So many bytes of a line are examined. */
#define RECORDS_LINE 40

struct records {
	enum records_unit unit;
	struct reading now;
	/** The beginning of the current line; `len` is the length of the line so far, which may be larger. */
	char line[RECORDS_LINE];
	size_t len;
};

/** Count the records in @text, the next piece of output, which came at @now_ms. */
void records_add(struct records *records, struct str text, uint64_t now_ms);

/** At end of file, count a last line without a line break. */
void records_end(struct records *records, uint64_t now_ms);

/** Read "samples=N", with blanks around it. Returns false if @line is anything else. */
bool records_read_samples(struct str line, uint64_t *out);

/** A run of the pipeline. All times are by the same clock. */
struct run_window {
	uint64_t start_ms;
	/** When the warm-up ended, and the count at that time; 0: the pipeline ended during the warm-up. */
	uint64_t base_ms;
	struct reading base;
	uint64_t end_ms;
	struct reading end;
};

struct rate {
	/** Thousandths of a record per second; 0: nothing was counted. */
	uint64_t milli;
	/** The unit that was counted: RECORDS_SAMPLES if the pipeline printed "samples=N". */
	enum records_unit unit;
	/**
	 * The rate includes start and warm-up, because the pipeline ended during the warm-up, printed nothing after it, or
	 * printed only one number of samples.
	 */
	bool whole_run;
};

struct rate records_rate(enum records_unit unit, const struct run_window *window);
