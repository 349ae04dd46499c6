// SPDX-License-Identifier: Apache-2.0

#include "measure/analysis.h"

const char *limit_name(enum limit limit) {
	static const char *const names[] = {"none", "cpu", "memory", "storage"};
	return names[limit];
}

static uint64_t percent(uint64_t part, uint64_t whole) {
	// If multiplying would overflow, as for sums over many workers, divide first.
	return whole == 0 ? 0 : part > UINT64_MAX / 100 ? part / (whole / 100 + 1) : part * 100 / whole;
}

/** Find the limit. Check memory first, because a shortage of memory keeps CPUs and storage busy. */
static enum limit find_limit(const struct analysis_row *row) {
	if (percent(row->memory_of_all, row->node_memory) >= LIMIT_MEMORY_PERCENT) {
		return LIMIT_MEMORY;
	}
	if (row->cpu_percent >= LIMIT_CPU_PERCENT) {
		return LIMIT_CPU;
	}
	return row->waits_percent >= LIMIT_STORAGE_PERCENT ? LIMIT_STORAGE : LIMIT_NONE;
}

void analysis_row_measure(struct analysis_row *row, const struct message *workers, uint32_t nodes) {
	uint64_t span = 0, cpu = 0, looks = 0, waits = 0;
	const uint32_t n = row->candidate.workers;
	if (n == 0) {
		return; // no worker fits
	}
	row->outcome = ROW_MEASURED;
	row->unit = (enum records_unit)workers[0].field[FIELD_UNIT];
	row->node = workers[0].node;
	row->node_cpus = (uint32_t)workers[0].field[FIELD_CPUS];
	row->node_memory = workers[0].field[FIELD_MEMORY_TOTAL];
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t *w = workers[i].field;
		row->per_node += w[FIELD_RATE];
		row->whole_run += w[FIELD_WHOLE_RUN] != 0;
		row->ended += w[FIELD_ENDED] != 0;
		row->memory = w[FIELD_MEMORY] > row->memory ? w[FIELD_MEMORY] : row->memory;
		row->memory_of_all += w[FIELD_MEMORY];
		row->by_rss |= w[FIELD_BY_RSS] != 0;
		row->read_rate += w[FIELD_SPAN_MS] ? w[FIELD_READ] * 1000 / w[FIELD_SPAN_MS] : 0;
		span += w[FIELD_SPAN_MS];
		cpu += w[FIELD_CPU_MS];
		looks += w[FIELD_LOOKS];
		waits += w[FIELD_WAITS];
	}
	row->per_worker = row->per_node / n;
	if (__builtin_mul_overflow(row->per_node, nodes, &row->estimate)) {
		row->estimate = UINT64_MAX;
	}
	row->read_rate /= n;
	row->cpu_percent = (uint32_t)percent(cpu, span * row->candidate.threads);
	row->waits_percent = (uint32_t)percent(waits, looks);
	row->limit = find_limit(row);
}

const struct analysis_row *analysis_rows_best(const struct analysis_row *rows, size_t n) {
	const struct analysis_row *best = NULL;
	for (size_t i = 0; i < n; i++) {
		if (rows[i].outcome == ROW_MEASURED && (!best || rows[i].per_node > best->per_node)) {
			best = &rows[i];
		}
	}
	return best;
}

bool analysis_rows_compare(const struct analysis_row *rows, size_t n) {
	const struct analysis_row *first = NULL;
	for (size_t i = 0; i < n; i++) {
		const struct analysis_row *row = &rows[i];
		if (row->outcome != ROW_MEASURED) {
			continue;
		}
		first = first ? first : row;
		if (row->unit != first->unit || row->node_cpus != first->node_cpus ||
		    row->node_memory / 100 * 95 > first->node_memory ||
		    first->node_memory / 100 * 95 > row->node_memory) {
			return false;
		}
	}
	return true;
}
