// SPDX-License-Identifier: Apache-2.0

/** Prints progress, and the report as text: a table, a bar chart, the limit, and the command line to copy. */

#include "analyze/analyze.h"

#include "base/duration.h"
#include "base/file.h"
#include "base/words.h"

/** The number of columns of the longest bar. */
#define BAR 40

static void put_bytes(struct buf *out, uint64_t bytes, const char *behind) {
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	size_t unit = 0;
	uint64_t tenths = bytes > UINT64_MAX / 10 ? UINT64_MAX : bytes * 10;
	for (; tenths >= 10240 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++) {
		tenths /= 1024;
	}
	buf_putf(out, "%lu", (unsigned long)(tenths / 10));
	if (unit && tenths < 1000) {
		buf_putf(out, ".%lu", (unsigned long)(tenths % 10));
	}
	buf_putf(out, " %s%s", units[unit], behind);
}

void analyze_put_rate(struct buf *out, enum records_unit unit, uint64_t milli) {
	if (unit == RECORDS_BYTES) {
		put_bytes(out, milli / 1000, "");
	} else if (milli < 1000) {
		buf_putf(out, "0.%03lu", (unsigned long)milli);
	} else if (milli < 100000) {
		uint64_t tenths = (milli + 50) / 100;
		buf_putf(out, "%lu.%lu", (unsigned long)(tenths / 10), (unsigned long)(tenths % 10));
	} else {
		buf_putf(out, "%lu", (unsigned long)((milli + 500) / 1000));
	}
}

const char *analyze_rate_unit(enum records_unit unit) {
	static const char *const units[] = {" lines/s", "/s", " samples/s"};
	return units[unit];
}

void analyze_put_candidate(struct buf *out, const struct candidate *candidate) {
	buf_putf(out, "%u threads", candidate->threads);
	if (candidate->workers) {
		buf_putf(out, " x %u worker%s", candidate->workers, candidate->workers == 1 ? "" : "s");
	}
}

void analyze_progress(const struct analysis *a, const struct analysis_row *row, const char *text) {
	if (a->s->speaker.log < LOG_WARN) {
		return;
	}
	struct buf line = BUF(&a->s->arena);
	buf_put_plain(&line, str_of(a->s->called));
	buf_puts(&line, ": ");
	analyze_put_candidate(&line, &row->candidate);
	buf_puts(&line, ": ");
	buf_put_plain(&line, str_of(text));
	buf_putc(&line, '\n');
	write_all(2, buf_str(&line));
}

/** Append @cell, right-aligned in @width columns. */
static void put_cell(struct buf *out, struct buf *cell, int width) {
	int len = (int)cell->len;
	buf_putf(out, "%*s%s", len < width ? width - len : 1, "", buf_text(cell));
	cell->len = 0;
}

static void put_rate_cell(struct buf *out, const struct analysis_row *row, uint64_t milli, int width) {
	struct buf cell = BUF(out->arena);
	analyze_put_rate(&cell, row->unit, milli);
	put_cell(out, &cell, width);
}

static void put_measured(struct buf *out, const struct analysis_row *row) {
	struct buf cell = BUF(out->arena);
	put_rate_cell(out, row, row->per_worker, 13);
	put_rate_cell(out, row, row->per_node, 12);
	put_rate_cell(out, row, row->estimate, 16);
	buf_putf(&cell, "%u%%", row->cpu_percent);
	put_cell(out, &cell, 7);
	put_bytes(&cell, row->memory, row->by_rss ? "*" : "");
	put_cell(out, &cell, 12);
	put_bytes(&cell, row->read_rate, "/s");
	put_cell(out, &cell, 13);
	buf_putf(out, "  %s", limit_name(row->limit));
}

static void put_row(struct buf *out, const struct analysis_row *row, bool best) {
	buf_putf(out, "%c %7u ", best ? '>' : ' ', row->candidate.threads);
	if (row->candidate.workers) {
		buf_putf(out, "%7u", row->candidate.workers);
	} else {
		buf_puts(out, "      -");
	}
	if (row->outcome == ROW_MEASURED) {
		put_measured(out, row);
		buf_puts(out, best ? "  best\n" : "\n");
	} else {
		buf_putf(out, "   %s: %s\n", row->outcome == ROW_FAILED ? "failed" : "left out", row->why);
	}
}

static void put_table(struct buf *out, const struct analysis *a, const struct analysis_row *best) {
	struct buf cell = BUF(out->arena);
	buf_puts(out, "  threads workers     a worker      a node");
	buf_puts(&cell, a->nodes == 1 ? "1 node" : arena_format(out->arena, "est. %u nodes", a->nodes));
	put_cell(out, &cell, 16);
	buf_puts(out, "    CPU      memory         read  limit\n");
	for (size_t i = 0; i < a->n; i++) {
		put_row(out, &a->rows[i], best && best == &a->rows[i]);
	}
}

static void put_bars(struct buf *out, const struct analysis *a, const struct analysis_row *best) {
	static const char bar[BAR + 1] = "########################################";
	buf_putf(out, "\n%s per second, of a node\n", records_unit_words[best->unit]);
	for (size_t i = 0; i < a->n; i++) {
		const struct analysis_row *row = &a->rows[i];
		if (row->outcome != ROW_MEASURED) {
			continue;
		}
		struct buf cell = BUF(out->arena);
		buf_putf(&cell, "%u x %u", row->candidate.threads, row->candidate.workers);
		put_cell(out, &cell, 11);
		// If the numbers are too large to multiply, the bars are less exact.
		uint64_t whole = best->per_node / 1000 + 1, part = row->per_node / 1000;
		int len = best->per_node == 0		       ? 0
			  : best->per_node <= UINT64_MAX / BAR ? (int)(row->per_node * BAR / best->per_node)
							       : (int)(part / (whole / BAR + 1));
		buf_putf(out, "  %.*s%*s ", len, bar, BAR - len, "");
		analyze_put_rate(out, row->unit, row->per_node);
		buf_puts(out, row == best ? "  best\n" : "\n");
	}
}

void analyze_put_launch(struct buf *out, const struct analysis *a, const struct analysis_row *row) {
	buf_putf(out, "csrun_wse --total-nodes=%u --tasks-per-node=%u --cpus-per-task=%u", a->nodes,
		 row->candidate.workers, row->candidate.threads);
}

/** Explain the estimate and its limit. */
static void put_limits(struct buf *out, const struct analysis *a, const struct analysis_row *best) {
	static const char *const limits[] = {
		"As far as measured, neither CPU, memory nor storage limits the best candidate: "
		"its workers wait for something else.",
		"CPUs limit the best candidate: each node adds its own.",
		"The node's memory limits the best candidate: use fewer or smaller workers.",
		"Storage limits the best candidate, as far as measured: if the nodes share the storage, more "
		"nodes are not faster.",
	};
	if (a->nodes == 1) {
		buf_putf(out, "\nMeasured on one node, alone. %s\n", limits[best->limit]);
	} else {
		buf_putf(
			out,
			"\nThe figures for %u nodes are an estimate: one node was measured alone, and linear "
			"scaling is assumed.\n%s\n",
			a->nodes, limits[best->limit]);
	}
	if (best->read_rate) {
		buf_puts(out,
			 a->nodes == 1 ? "Storage must deliver " : "For the estimate, storage must deliver ");
		put_bytes(out, best->read_rate * best->candidate.workers * a->nodes, "/s.\n");
	}
}

/** Append remarks on single rows. */
static void put_remarks(struct buf *out, const struct analysis *a) {
	bool rss = false;
	for (size_t i = 0; i < a->n; i++) {
		const struct analysis_row *row = &a->rows[i];
		if (row->outcome != ROW_MEASURED) {
			continue;
		}
		rss |= row->by_rss;
		if (row->whole_run) {
			buf_putf(out, "%u x %u: counted over the whole run, start included%s.\n",
				 row->candidate.threads, row->candidate.workers,
				 row->ended < row->candidate.workers ? "; it was ended at the time limit"
								     : "");
		}
	}
	if (rss) {
		buf_puts(out, "*: RSS, which counts shared pages for each process.\n");
	}
}

static void put_head(struct buf *out, const struct analysis *a, const struct analysis_row *best) {
	buf_puts(out, "input pipeline: ");
	words_put(out, a->command);
	buf_putf(out, "\nmeasured: %s for %s, after %s of warm-up",
		 records_unit_words[best ? best->unit : a->unit], duration_text(a->measure_ms).s,
		 duration_text(a->warmup_ms).s);
	if (best) {
		buf_puts(out, "; on ");
		buf_put_plain(out, best->node);
		buf_putf(out, ", %u CPUs, ", best->node_cpus);
		put_bytes(out, best->node_memory, "");
	}
	buf_puts(out, "\n\n");
}

void analyze_put_text(struct buf *out, const struct analysis *a) {
	const struct analysis_row *best = analysis_rows_best(a->rows, a->n);
	put_head(out, a, best);
	put_table(out, a, best);
	if (!best) {
		return;
	}
	put_bars(out, a, best);
	put_limits(out, a, best);
	put_remarks(out, a);
	buf_putc(out, '\n');
	analyze_put_launch(out, a, best);
	buf_putc(out, '\n');
}
