// SPDX-License-Identifier: Apache-2.0
#pragma once

/**
 * The results of measuring an input pipeline: a row for each candidate, with the resource that limits it, and
 * the best row.
 */

#include "measure/candidates.h"
#include "measure/message.h"
#include "measure/records.h"

enum row_outcome {
	/** Not measured, because the node is too small for it. */
	ROW_LEFT_OUT,
	ROW_FAILED,
	ROW_MEASURED,
};

/** The resource that limits a pipeline, as far as we can measure it. */
enum limit {
	/** No resource below: the pipeline waits for something else, or limits itself. */
	LIMIT_NONE,
	LIMIT_CPU,
	LIMIT_MEMORY,
	LIMIT_STORAGE,
};

/** The name of @limit: "none", "cpu", "memory", "storage". */
const char *limit_name(enum limit limit);

/**
 * From these percentages on, a resource is the limit: of the workers' CPUs, of the node's memory, of the
 * looks.
 */
#define LIMIT_CPU_PERCENT     85
#define LIMIT_MEMORY_PERCENT  90
#define LIMIT_STORAGE_PERCENT 50

struct analysis_row {
	struct candidate candidate;
	enum row_outcome outcome;
	/** Why the candidate was left out or failed; NULL: it was measured. */
	const char *why;
	/** The pipeline's exit status if the row failed because of it; else 0. */
	uint32_t status;
	/** In thousandths of a record per second: the workers' mean, their sum, and the sum of all nodes. */
	uint64_t per_worker;
	uint64_t per_node;
	uint64_t estimate;
	/** The unit of the records. */
	enum records_unit unit;
	/** How many workers have a rate of their whole run (struct rate), and how many ended by themselves. */
	uint32_t whole_run;
	uint32_t ended;
	/** The CPU use of all workers together, in percent of their CPUs. */
	uint32_t cpu_percent;
	/** Memory in bytes: of the largest worker; `by_rss`: a worker's was measured as RSS; of all workers. */
	uint64_t memory;
	bool by_rss;
	uint64_t memory_of_all;
	/** Bytes per second that a worker read from storage, on average. */
	uint64_t read_rate;
	/** The percentage of looks in which a worker waited for storage. */
	uint32_t waits_percent;
	enum limit limit;
	/** The node on which the workers ran. */
	struct str node;
	uint32_t node_cpus;
	uint64_t node_memory;
};

/**
 * Fill in @row, whose candidate is set, from the results of its @workers, and estimate the rate of @nodes
 * nodes.
 */
void analysis_row_measure(struct analysis_row *row, const struct message *workers, uint32_t nodes);

/** Find the row with the most records per node; of equal rows, the first. NULL: no row was measured. */
const struct analysis_row *analysis_rows_best(const struct analysis_row *rows, size_t n);

/** Whether the measured rows can be compared: they have the same unit, and nodes of the same size. */
bool analysis_rows_compare(const struct analysis_row *rows, size_t n);
