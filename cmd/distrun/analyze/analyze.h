// SPDX-License-Identifier: Apache-2.0
#pragma once

/** 'distrun analyze': declarations that its files share. */

#include "distrun/csrun.h"
#include "measure/analysis.h"

struct analysis {
	struct distrun_session *s;
	/** The site's settings, and the container. */
	struct csrun csrun;
	/** The pipeline. */
	char **command;
	/** srun's options except those of the candidate, and the container's command line, both ended by NULL. */
	char **srun_options;
	char **contained;
	enum records_unit unit;
	uint64_t warmup_ms;
	uint64_t measure_ms;
	/** The nodes of the job or partition, and the number of nodes for the estimate. */
	struct nodes there;
	uint32_t nodes;
	/** `n` candidates, with the results of those that were measured. */
	struct analysis_row *rows;
	size_t n;
	/** The first candidate's node. The others use it, too, because nodes could differ. NULL: none yet. */
	const char *pinned;
	/** A signalfd for the signals that end us. */
	int signals;
};

/**
 * Measure the candidate of @row on a node, and fill in @row.
 * Returns 0, also if the measurement failed (see the row's outcome); the number of a signal that ended it; or a
 * negative errno.
 */
int analyze_step(struct analysis *a, struct analysis_row *row, struct err *err);

/** The path of this program, for the probe, in a container that srun starts. */
#define ANALYZE_INSIDE "/distrun"

/** Make srun's command line for @row, ended by NULL. */
char **analyze_words(const struct analysis *a, const struct analysis_row *row);

/** Write the report as text or as JSON. */
void analyze_put_text(struct buf *out, const struct analysis *a);
void analyze_put_json(struct buf *out, const struct analysis *a);

/** Append a rate of @milli thousandths of a record per second; its unit is analyze_rate_unit()'s. */
void analyze_put_rate(struct buf *out, enum records_unit unit, uint64_t milli);
const char *analyze_rate_unit(enum records_unit unit);

/** Append "4 threads x 2 workers". */
void analyze_put_candidate(struct buf *out, const struct candidate *candidate);

/** Print progress on stderr, unless --log=error. */
void analyze_progress(const struct analysis *a, const struct analysis_row *row, const char *text);

/** Write the command line that starts @row's configuration. */
void analyze_put_launch(struct buf *out, const struct analysis *a, const struct analysis_row *row);
