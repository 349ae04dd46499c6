// SPDX-License-Identifier: Apache-2.0
#pragma once

/** Results of measuring an input pipeline: a row for each candidate, the best, and what limits each. */

#include "measure/candidates.h"
#include "measure/message.h"
#include "measure/records.h"

enum row_outcome {
	/** Not measured, because the node is too small for it. */
	ROW_LEFT_OUT,
	ROW_FAILED,
	ROW_MEASURED,
};

/** The resource that limits a pipeline, as far as this can be measured. */
enum limit {
	/** None of these: the pipeline waits for something else, or limits itself. */
	LIMIT_NONE,
	LIMIT_CPU,
	LIMIT_MEMORY,
	LIMIT_STORAGE,
};

/** "none", "cpu", "memory", "storage". */
const char *limit_name(enum limit limit);

/** What counts as the limit: % of the node's CPUs or memory used, % of looks that wait for storage. */
#define LIMIT_CPU_PERCENT     85
#define LIMIT_MEMORY_PERCENT  90
#define LIMIT_STORAGE_PERCENT 50

struct analysis_row {
	struct candidate candidate;
	enum row_outcome outcome;
	/** Why it was left out or failed; NULL: it was measured. */
	const char *why;
	/** The pipeline's exit status if that is the reason; else 0. */
	uint32_t status;
	/** Thousandths of a record per second: the workers' mean, their sum, and `nodes` times that sum. */
	uint64_t per_worker;
	uint64_t per_node;
	uint64_t estimate;
	/** The unit of the records. */
	enum records_unit unit;
	/** How many workers were measured over their whole run; how many ended by themselves. */
	uint32_t whole_run;
	uint32_t ended;
	/** CPU use of all workers together, in percent of their CPUs. */
	uint32_t cpu_percent;
	/** Bytes of the largest worker; whether that is the RSS; of all workers. */
	uint64_t memory;
	bool by_rss;
	uint64_t memory_of_all;
	/** Mean of the bytes per second that a worker read from storage. */
	uint64_t read_rate;
	/** Percentage of looks in which a worker waited for storage. */
	uint32_t waits_percent;
	enum limit limit;
	/** The node it ran on. */
	struct str node;
	uint32_t node_cpus;
	uint64_t node_memory;
};

/** Fill in @row, whose candidate is set, from its workers' results, and an estimate for @nodes nodes. */
void analysis_row_measure(struct analysis_row *row, const struct message *workers, uint32_t nodes);

/** The row with the most records per node; the first of equals. NULL: none was measured. */
const struct analysis_row *analysis_rows_best(const struct analysis_row *rows, size_t n);

/** Whether all measured rows have the same unit, and nodes of the same size. */
bool analysis_rows_compare(const struct analysis_row *rows, size_t n);
