// SPDX-License-Identifier: Apache-2.0
#pragma once

/** 'distrun analyze': what its files share. */

#include "distrun/csrun.h"
#include "measure/analysis.h"

struct analysis {
	struct session *s;
	/** The site's settings, and the container. */
	struct csrun csrun;
	/** The pipeline. */
	char **command;
	/** What srun is told beside the candidate, and what it is to start: the container's command line. Both end with NULL. */
	char **srun_options;
	char **contained;
	enum records_unit unit;
	uint64_t warmup_ms;
	uint64_t measure_ms;
	/** Those that there are, and for how many to estimate. */
	struct nodes there;
	uint32_t nodes;
	/** `n` candidates, those that were tried with their measurements. */
	struct row *rows;
	size_t n;
	/** What to measure the next one on: the node of the first, where others of the same job could be unlike it; or NULL. */
	const char *pinned;
	/** The signals that end us, as a descriptor. */
	int signals;
};

/**
 * Measure the candidate of @row on a node, and fill @row in.
 * Returns 0, also where that failed: @row says so; the number of the signal that ended it; or a negative errno.
 */
int analyze_step(struct analysis *a, struct row *row, struct err *err);

/** Where this program is in a container that srun itself starts: the probe runs inside. */
#define ANALYZE_INSIDE "/distrun"

/** srun's command line for @row, ended by NULL. */
char **analyze_words(const struct analysis *a, const struct row *row);

/** Write the report, for people and as JSON. */
void analyze_put_text(struct buf *out, const struct analysis *a);
void analyze_put_json(struct buf *out, const struct analysis *a);

/** Append @milli thousandths of a record per second, for people: the number; and what it counts, with a blank in front if need be. */
void analyze_put_rate(struct buf *out, enum records_unit unit, uint64_t milli);
const char *analyze_rate_unit(enum records_unit unit);

/** Append "4 threads x 2 workers". */
void analyze_put_candidate(struct buf *out, const struct candidate *candidate);

/** Say on stderr how it goes, unless --log=error. */
void analyze_progress(const struct analysis *a, const struct row *row, const char *text);

/** The line to paste for @row. */
void analyze_put_launch(struct buf *out, const struct analysis *a, const struct row *row);
