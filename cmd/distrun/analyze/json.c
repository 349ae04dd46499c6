// SPDX-License-Identifier: Apache-2.0

/** Writes the report as JSON. Existing keys stay as they are; new ones may be added. */

#include "analyze/analyze.h"

#include "base/json_write.h"

/** Write @milli thousandths as a decimal number. */
static void put_milli(struct json *json, const char *key, uint64_t milli) {
	buf_putf(json_value(json, key), "%lu.%03lu", (unsigned long)(milli / 1000),
		 (unsigned long)(milli % 1000));
}

static void put_measured(struct json *json, const struct analysis_row *row) {
	json_text(json, "unit", records_unit_words[row->unit]);
	put_milli(json, "per_worker", row->per_worker);
	put_milli(json, "per_node", row->per_node);
	put_milli(json, "estimate", row->estimate);
	json_number(json, "cpu_percent", row->cpu_percent);
	buf_putu(json_value(json, "memory_bytes"), row->memory);
	json_text(json, "memory_by", row->by_rss ? "rss" : "pss");
	buf_putu(json_value(json, "read_bytes_per_second"), row->read_rate);
	json_number(json, "storage_wait_percent", row->waits_percent);
	json_text(json, "limit", row->limit ? limit_name(row->limit) : NULL);
	json_number(json, "counted_over_whole_run", row->whole_run);
	json_string(json, "node", row->node);
	json_number(json, "node_cpus", row->node_cpus);
	buf_putu(json_value(json, "node_memory_bytes"), row->node_memory);
}

static void put_row(struct json *json, const struct analysis_row *row, bool best) {
	static const char *const outcomes[] = {"left-out", "failed", "measured"};
	json_line(json, 1);
	json_open(json, NULL, '{');
	json_number(json, "threads", row->candidate.threads);
	json_number(json, "workers_per_node", row->candidate.workers);
	json_text(json, "outcome", outcomes[row->outcome]);
	json_text(json, "why", row->why);
	json_number(json, "exit_status", row->status ? row->status : UINT32_MAX);
	json_fact(json, "best", best);
	if (row->outcome == ROW_MEASURED) {
		put_measured(json, row);
	}
	json_close(json, '}');
}

void analyze_put_json(struct buf *out, const struct analysis *a) {
	const struct analysis_row *best = analysis_rows_best(a->rows, a->n);
	struct json json = {.out = out};
	json_open(&json, NULL, '{');
	json_text(&json, "version", DISTINIT_VERSION);
	json_open(&json, "command", '[');
	for (size_t i = 0; a->command[i]; i++) {
		json_text(&json, NULL, a->command[i]);
	}
	json_close(&json, ']');
	json_number(&json, "nodes", a->nodes);
	put_milli(&json, "warmup_seconds", a->warmup_ms);
	put_milli(&json, "measured_seconds", a->measure_ms);
	json_open(&json, "candidates", '[');
	for (size_t i = 0; i < a->n; i++) {
		put_row(&json, &a->rows[i], best && best == &a->rows[i]);
	}
	json_close(&json, ']');
	struct buf line = BUF(out->arena);
	if (best) {
		analyze_put_launch(&line, a, best);
	}
	json_text(&json, "launch", best ? buf_text(&line) : NULL);
	json_close(&json, '}');
	buf_putc(out, '\n');
}
