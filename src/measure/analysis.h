// SPDX-License-Identifier: Apache-2.0
#pragma once

/** What the measurements of an input pipeline come to: a row for each candidate, the best of them, and what limits each. */

#include "measure/candidates.h"
#include "measure/message.h"
#include "measure/records.h"

enum row_outcome {
	/** It cannot fit. */
	ROW_LEFT_OUT,
	ROW_FAILED,
	ROW_MEASURED,
};

/** What a pipeline would need more of, as far as it can be seen. */
enum limit {
	/** None of these: it waits for something else, or is made to be no faster. */
	LIMIT_NONE,
	LIMIT_CPU,
	LIMIT_MEMORY,
	LIMIT_STORAGE,
};

/** "none", "cpu", "memory", "storage". */
const char *limit_name(enum limit limit);

/** From how many per cent on of the node's CPUs or memory, or of the looks, it counts as the limit. */
#define LIMIT_CPU_PERCENT     85
#define LIMIT_MEMORY_PERCENT  90
#define LIMIT_STORAGE_PERCENT 50

struct row {
	struct candidate candidate;
	enum row_outcome outcome;
	/** Why it was left out or has failed; NULL: measured. */
	const char *why;
	/** Exit status of the pipeline, where that is why; else 0. */
	uint32_t status;
	/** Thousandths of a record per second: mean of the workers, sum of the workers, and `nodes` times that. */
	uint64_t per_worker;
	uint64_t per_node;
	uint64_t estimate;
	/** What was counted. */
	enum records_unit unit;
	/** How many workers were counted over their whole run; how many ended by themselves. */
	uint32_t whole_run;
	uint32_t ended;
	/** CPU use of all workers together, in per cent of the CPUs that they have. */
	uint32_t cpu_percent;
	/** Of the largest worker, in bytes, and whether it is the RSS; and of all together. */
	uint64_t memory;
	bool by_rss;
	uint64_t memory_of_all;
	/** Bytes per second that a worker had from storage, the mean. */
	uint64_t read_rate;
	/** In how many of 100 looks a worker waited for storage. */
	uint32_t waits_percent;
	enum limit limit;
	/** The node that it ran on. */
	struct str node;
	uint32_t node_cpus;
	uint64_t node_memory;
};

/** Fill in @row, whose candidate is set, from the results of its workers. @nodes: to estimate for. */
void row_measure(struct row *row, const struct message *workers, uint32_t nodes);

/** The row with the most records per node; of equals the first. NULL: none was measured. */
const struct row *rows_best(const struct row *rows, size_t n);

/** Whether all rows that were measured count the same, on nodes of the same size. */
bool rows_compare(const struct row *rows, size_t n);
