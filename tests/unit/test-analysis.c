// SPDX-License-Identifier: Apache-2.0

/** Tests candidates, probe messages and their analysis. */

#include "measure/analysis.h"

#include "check.h"
#include "fixture.h"

#include <errno.h>

/** "12x3 20x1!": the candidates that fit, and the one left out. */
static char *show(struct arena *arena, const struct candidate *list, size_t n) {
	struct buf out = BUF(arena);
	for (size_t i = 0; i < n; i++) {
		buf_putf(&out, "%s%ux%u%s", i ? " " : "", list[i].threads, list[i].workers,
			 list[i].left_out ? "!" : "");
	}
	return buf_text(&out);
}

/** @threads and @workers: lists, "" for none. @want: what show() makes, or a part of the error. */
static void check_candidates(uint32_t cpus, const char *threads, const char *workers, const char *want) {
	struct arena arena = fixture_arena();
	uint32_t *t = NULL, *w = NULL;
	size_t nt = 0, nw = 0, n = 0;
	struct candidate *list = NULL;
	struct err err;
	int r = *threads ? candidates_read_list(&arena, "--threads", threads, &t, &nt, &err) : 0;
	r = r == 0 && *workers ? candidates_read_list(&arena, "--workers-per-node", workers, &w, &nw, &err)
			       : r;
	r = r < 0 ? r : candidates_make(&arena, cpus, t, nt, w, nw, &list, &n, &err);
	if (r < 0) {
		check_part(err.text, want, "%u CPUs, threads '%s', workers '%s'", cpus, threads, workers);
	} else {
		check_text(show(&arena, list, n), want, "%u CPUs, threads '%s', workers '%s'", cpus, threads,
			   workers);
	}
	arena_done(&arena);
}

static void check_all_candidates(void) {
	check_candidates(64, "", "", "12x5 16x4 20x3");
	check_candidates(32, "", "", "12x2 16x2 20x1");
	check_candidates(16, "", "", "12x1 16x1 20x0!");
	check_candidates(14, "", "", "12x1 16x0! 20x0! 14x1 7x2 3x4");
	check_candidates(8, "", "", "12x0! 16x0! 20x0! 8x1 4x2 2x4");
	check_candidates(1, "", "", "12x0! 16x0! 20x0! 1x1");
	check_candidates(8, "12", "", "12x0!");
	check_candidates(8, "4,2", "", "4x2 2x4");
	check_candidates(8, "4,4", "", "4x2");
	check_candidates(8, "4", "1,2,3", "4x1 4x2 4x3!");
	check_candidates(0, "4", "1,2", "4x1 4x2");
	check_candidates(0, "4", "", "does not report how many CPUs");
	check_candidates(0, "", "", "does not report how many CPUs");
	check_candidates(8, "4,,2", "", "--threads='4,,2': '' is not a whole number");
	check_candidates(8, "0", "", "'0' is not a whole number from 1");
	check_candidates(8, "-4", "", "'-4' is not");
	check_candidates(8, "65536", "", "'65536' is not");
	check_candidates(65535, "65535", "65535", "65535x65535!");
	check_candidates(8, "1,2,3,4,5,6,7,8,9,10", "1,2,3,4,5,6,7",
			 "70 candidates are too many; at most 64");
}

/** A message that is written, read and written again stays the same. */
static void check_message(struct arena *arena, const char *line) {
	struct message m;
	struct buf out = BUF(arena);
	if (checkf(message_read(str_of(line), &m), "read '%s'", line)) {
		message_put(&out, &m);
		check_text(buf_text(&out), arena_format(arena, "%s\n", line), "written again");
	}
}

static void check_messages(struct arena *arena) {
	struct message m = {.kind = MESSAGE_TICK};
	check_message(arena, "distrun-probe ready cpus=8 memory_total=1024 node=n1");
	check_message(arena, "distrun-probe tick rank=3 count=18446744073709551615 node=");
	check_message(arena, "distrun-probe result rank=1 at_ms=5 ended=1 status=3 rate=7 unit=2 whole_run=1 "
			     "span_ms=4 cpu_ms=3 read=2 memory=1 by_rss=1 looks=9 waits=8 node=a.b");
	static const char *const others[] = {"",
					     "distrun-probe",
					     "distrun-probe what node=",
					     "distrun-probes tick node=",
					     "hello world",
					     "distrun-probe tick rank=x node=",
					     "distrun-probe tick rank=18446744073709551616 node=",
					     "distrun-probe tick nobody=1 node=",
					     "distrun-probe tick rank node="};
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		checkf(!message_read(str_of(others[i]), &m) && m.kind == MESSAGE_TICK, "no message: '%s'",
		       others[i]);
	}
}

static struct message worker(uint64_t rate, uint64_t cpu_ms, uint64_t memory, uint64_t waits) {
	struct message m = {.kind = MESSAGE_RESULT, .node = STR("n1")};
	m.field[FIELD_RATE] = rate;
	m.field[FIELD_SPAN_MS] = 10000;
	m.field[FIELD_CPU_MS] = cpu_ms;
	m.field[FIELD_MEMORY] = memory;
	m.field[FIELD_READ] = 40960;
	m.field[FIELD_LOOKS] = 10;
	m.field[FIELD_WAITS] = waits;
	m.field[FIELD_CPUS] = 8;
	m.field[FIELD_MEMORY_TOTAL] = 1000;
	return m;
}

static void check_row(void) {
	struct message w[2] = {worker(10000, 1000, 300, 0), worker(30000, 3000, 100, 0)};
	struct analysis_row row = {.candidate = {.threads = 4, .workers = 2}};
	analysis_row_measure(&row, w, 5);
	check(row.outcome == ROW_MEASURED && row.per_node == 40000 && row.per_worker == 20000);
	check(row.estimate == 200000);
	checkf(row.cpu_percent == 5, "4 s of 80: %u", row.cpu_percent);
	check(row.memory == 300 && row.memory_of_all == 400 && !row.by_rss);
	check(row.read_rate == 4096 && row.limit == LIMIT_NONE && row.whole_run == 0);
	check(str_is(row.node, "n1") && row.node_cpus == 8 && row.node_memory == 1000);
}

/** Text that a pipeline may print itself: it is either not a message or does no harm. */
static void check_forged(void) {
	static const char *const forged[] = {"unit=3", "unit=18446744073709551615",
					     "rate=18446744073709551615", "status=4294967296",
					     "memory=281474976710657"};
	struct arena arena = fixture_arena();
	struct message m;
	for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i++) {
		const char *line = arena_format(&arena, "distrun-probe result %s node=", forged[i]);
		checkf(message_read(str_of(line), &m) && !message_is_plausible(&m), "not plausible: %s",
		       forged[i]);
	}
	check(message_read(STR("distrun-probe result rate=281474976710656 unit=2 status=255 node="), &m) &&
	      message_is_plausible(&m));
	// The limits: the most workers, the highest rate, the most nodes.
	static struct message many[65535];
	for (size_t i = 0; i < 65535; i++) {
		many[i] = worker((uint64_t)1 << 48, (uint64_t)1 << 48, (uint64_t)1 << 48, 10);
	}
	struct analysis_row row = {.candidate = {.threads = 1, .workers = 65535}};
	analysis_row_measure(&row, many, 1000000);
	check(row.per_node >= (uint64_t)1 << 48 && row.estimate == UINT64_MAX && row.waits_percent == 100);
	arena_done(&arena);
}

static void check_limit(uint64_t cpu_ms, uint64_t memory, uint64_t waits, enum limit want) {
	struct message w = worker(1000, cpu_ms, memory, waits);
	struct analysis_row row = {.candidate = {.threads = 2, .workers = 1}};
	analysis_row_measure(&row, &w, 1);
	check_text(limit_name(row.limit), limit_name(want), "%llu ms of CPU, %llu of memory, %llu waits",
		   (unsigned long long)cpu_ms, (unsigned long long)memory, (unsigned long long)waits);
}

static void check_best(void) {
	struct analysis_row rows[4] = {
		{.outcome = ROW_LEFT_OUT, .per_node = 99},
		{.outcome = ROW_MEASURED, .per_node = 5, .node_cpus = 8, .node_memory = 1000},
		{.outcome = ROW_MEASURED, .per_node = 5, .node_cpus = 8, .node_memory = 990},
		{.outcome = ROW_FAILED, .per_node = 99}};
	check(analysis_rows_best(rows, 4) == &rows[1]);
	check(analysis_rows_best(rows, 1) == NULL);
	check(analysis_rows_compare(rows, 4) && analysis_rows_compare(rows, 1));
	rows[2].per_node = 6;
	check(analysis_rows_best(rows, 4) == &rows[2]);
	rows[2].node_memory = 500;
	check(!analysis_rows_compare(rows, 4));
	rows[2].node_memory = 1000;
	rows[2].unit = RECORDS_SAMPLES;
	check(!analysis_rows_compare(rows, 4));
}

int main(void) {
	struct arena arena = fixture_arena();
	check_all_candidates();
	check_messages(&arena);
	check_row();
	check_forged();
	check_limit(0, 100, 0, LIMIT_NONE);
	check_limit(16900, 100, 9, LIMIT_STORAGE);
	check_limit(17000, 100, 9, LIMIT_CPU);
	check_limit(17000, 900, 9, LIMIT_MEMORY);
	check_limit(1000, 100, 4, LIMIT_NONE);
	check_best();
	arena_done(&arena);
	return check_done();
}
