// SPDX-License-Identifier: Apache-2.0

#include "measure/records.h"

#include "check.h"

/** Count @text, given in pieces of @piece bytes, a millisecond each; then its end. */
static struct reading count(enum records_unit unit, const char *text, size_t piece) {
	struct records records = {.unit = unit};
	struct str rest = str_of(text);
	uint64_t now = 1;
	for (; rest.len; now++) {
		size_t n = rest.len < piece ? rest.len : piece;
		records_add(&records, (struct str){rest.p, n}, now);
		rest = str_from(rest, n);
	}
	records_end(&records, now);
	return records.now;
}

/** @want_samples below 0: no number of samples is told. However the text comes in pieces. */
static void check_count(enum records_unit unit, const char *text, uint64_t want, int64_t want_samples) {
	for (size_t piece = 1; piece <= 64; piece = piece * 3 + 1) {
		struct reading got = count(unit, text, piece);
		checkf(got.count == want && got.has_samples == (want_samples >= 0) &&
			       (!got.has_samples || got.samples == (uint64_t)want_samples),
		       "%s of '%s' in pieces of %zu: %llu, %d, %llu", records_unit_words[unit], text, piece,
		       (unsigned long long)got.count, got.has_samples, (unsigned long long)got.samples);
	}
}

static void check_samples(const char *line, bool want, uint64_t want_number) {
	uint64_t got = 7;
	bool held = records_read_samples(str_of(line), &got);
	checkf(held == want && got == (want ? want_number : 7), "samples in '%s': %llu", line,
	       (unsigned long long)got);
}

static void check_rate(const char *name, enum records_unit unit, struct run_window w, uint64_t milli,
		       enum records_unit want_unit, bool whole) {
	struct rate rate = records_rate(unit, &w);
	checkf(rate.milli == milli && rate.unit == want_unit && rate.whole_run == whole,
	       "%s: %llu, unit %d, whole %d", name, (unsigned long long)rate.milli, rate.unit,
	       rate.whole_run);
}

static void check_counts(void) {
	check_count(RECORDS_LINES, "", 0, -1);
	check_count(RECORDS_LINES, "a\nb\nc\n", 3, -1);
	check_count(RECORDS_LINES, "a\nb\nc", 3, -1);
	check_count(RECORDS_LINES, "\n\n", 2, -1);
	check_count(RECORDS_BYTES, "a\nb\nc\n", 6, -1);
	check_count(RECORDS_SAMPLES, "a\nb\n", 0, -1);
	check_count(RECORDS_LINES, "a\nb\nsamples=120\n", 3, 120);
	check_count(RECORDS_LINES, "a\nb\nsamples=120", 3, 120);
	check_count(RECORDS_BYTES, "ab\nsamples=120\n", 15, 120);
	// The last line only; but where nothing else counts, also what is not the last.
	check_count(RECORDS_LINES, "samples=120\ndone\n", 2, -1);
	check_count(RECORDS_SAMPLES, "samples=120\ndone\n", 0, 120);
	check_count(RECORDS_SAMPLES, "samples=1\nsamples=5\ndone\n", 0, 5);
	// A line longer than the part that is kept.
	check_count(RECORDS_LINES, "samples=00000000000000000000000000000000000000000000001\n", 1, -1);
	check_count(RECORDS_LINES, "samples=0000000000000000000000000000001\n", 1, 1);

	check_samples("samples=0", true, 0);
	check_samples("  samples=12\r", true, 12);
	check_samples("samples=18446744073709", true, 18446744073709);
	check_samples("samples=18446744073710", false, 0); // a million of these do not fit
	check_samples("samples=", false, 0);
	check_samples("samples = 12", false, 0);
	check_samples("samples=-1", false, 0);
	check_samples("samples=1.5", false, 0);
	check_samples("n_samples=12", false, 0);
}

int main(void) {
	check_counts();

	struct run_window w = {.start_ms = 1000, .base_ms = 3000, .end_ms = 13000};
	w.base.count = 50;
	w.end.count = 550;
	check_rate("behind the warm-up", RECORDS_LINES, w, 50000, RECORDS_LINES, false);
	w.end.count = 50;
	check_rate("silent behind the warm-up", RECORDS_LINES, w, 50 * 1000 / 12, RECORDS_LINES, true);
	w.end.count = 0;
	w.base.count = 0;
	check_rate("nothing at all", RECORDS_BYTES, w, 0, RECORDS_BYTES, true);
	w = (struct run_window){.start_ms = 1000, .end_ms = 3000, .end = {.count = 30}};
	check_rate("over before the warm-up", RECORDS_LINES, w, 15000, RECORDS_LINES, true);
	w.end_ms = 1000;
	check_rate("over at once", RECORDS_LINES, w, 30000000, RECORDS_LINES, true);

	w = (struct run_window){.start_ms = 1000, .base_ms = 2000, .end_ms = 9000};
	w.end = (struct reading){.count = 3, .has_samples = true, .samples = 600, .at_ms = 7000};
	check_rate("told at the end", RECORDS_LINES, w, 100000, RECORDS_SAMPLES, true);
	w.base = (struct reading){.has_samples = true, .samples = 100, .at_ms = 2000};
	check_rate("told twice", RECORDS_SAMPLES, w, 100000, RECORDS_SAMPLES, false);
	w.end.has_samples = false;
	w.end.samples = 0;
	w.base = (struct reading){0};
	check_rate("not told", RECORDS_SAMPLES, w, 0, RECORDS_SAMPLES, false);
	w.end.count = UINT64_MAX / 2;
	check_rate("more than can be multiplied", RECORDS_BYTES, w, UINT64_MAX / 2 / 7000 * 1000000,
		   RECORDS_BYTES, false);
	return check_done();
}
