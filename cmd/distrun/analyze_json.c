// SPDX-License-Identifier: Apache-2.0

/** The report as JSON. Existing keys are stable; new ones may be added. */

#include "distrun/analyze.h"

#include "base/json_write.h"

static void put_name(struct buf *out, const char *name) {
	buf_putf(out, ", \"%s\": ", name);
}

static void put_number(struct buf *out, const char *name, uint64_t number) {
	put_name(out, name);
	buf_putu(out, number);
}

/** Write @milli thousandths as a decimal number. */
static void put_milli(struct buf *out, const char *name, uint64_t milli) {
	put_name(out, name);
	buf_putf(out, "%lu.%03lu", (unsigned long)(milli / 1000), (unsigned long)(milli % 1000));
}

static void put_flag(struct buf *out, const char *name, bool on) {
	put_name(out, name);
	buf_puts(out, on ? "true" : "false");
}

static void put_measured(struct buf *out, const struct analysis_row *row) {
	put_name(out, "unit");
	json_put_text(out, records_unit_words[row->unit]);
	put_milli(out, "per_worker", row->per_worker);
	put_milli(out, "per_node", row->per_node);
	put_milli(out, "estimate", row->estimate);
	put_number(out, "cpu_percent", row->cpu_percent);
	put_number(out, "memory_bytes", row->memory);
	put_name(out, "memory_by");
	json_put_text(out, row->by_rss ? "rss" : "pss");
	put_number(out, "read_bytes_per_second", row->read_rate);
	put_number(out, "storage_wait_percent", row->waits_percent);
	put_name(out, "limit");
	json_put_text(out, row->limit ? limit_name(row->limit) : NULL);
	put_number(out, "counted_over_whole_run", row->whole_run);
	put_name(out, "node");
	json_put_string(out, row->node);
	put_number(out, "node_cpus", row->node_cpus);
	put_number(out, "node_memory_bytes", row->node_memory);
}

static void put_row(struct buf *out, const struct analysis_row *row, bool best) {
	static const char *const outcomes[] = {"left-out", "failed", "measured"};
	buf_putf(out, "{\"threads\": %u, \"workers_per_node\": %u", row->candidate.threads,
		 row->candidate.workers);
	put_name(out, "outcome");
	json_put_text(out, outcomes[row->outcome]);
	put_name(out, "why");
	json_put_text(out, row->why);
	put_name(out, "exit_status");
	if (row->status) {
		buf_putu(out, row->status);
	} else {
		buf_puts(out, "null");
	}
	put_flag(out, "best", best);
	if (row->outcome == ROW_MEASURED) {
		put_measured(out, row);
	}
	buf_putc(out, '}');
}

void analyze_put_json(struct buf *out, const struct analysis *a) {
	const struct analysis_row *best = analysis_rows_best(a->rows, a->n);
	buf_puts(out, "{\"version\": \"" DISTINIT_VERSION "\", \"command\": [");
	for (size_t i = 0; a->command[i]; i++) {
		buf_puts(out, i ? ", " : "");
		json_put_text(out, a->command[i]);
	}
	buf_putc(out, ']');
	put_number(out, "nodes", a->nodes);
	put_milli(out, "warmup_seconds", a->warmup_ms);
	put_milli(out, "measured_seconds", a->measure_ms);
	put_name(out, "candidates");
	buf_putc(out, '[');
	for (size_t i = 0; i < a->n; i++) {
		buf_puts(out, i ? ",\n  " : "\n  ");
		put_row(out, &a->rows[i], best && best == &a->rows[i]);
	}
	buf_putc(out, ']');
	put_name(out, "launch");
	struct buf line = BUF(out->arena);
	if (best) {
		analyze_put_launch(&line, a, best);
	}
	json_put_text(out, best ? buf_text(&line) : NULL);
	buf_puts(out, "}\n");
}
