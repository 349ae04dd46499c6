// SPDX-License-Identifier: Apache-2.0

#include "measure/records.h"

#include "base/num.h"

const char *const records_unit_words[] = {"lines", "bytes", "samples", NULL};

bool records_read_samples(struct str line, uint64_t *out) {
	const struct str name = STR("samples=");
	line = str_trim(line);
	// per_second() multiplies the number by a million.
	return str_starts(line, name) && num_read(str_from(line, name.len), UINT64_MAX / 1000000, out) == 0;
}

/** Count the current line, which is complete. */
static void end_line(struct records *records, uint64_t now_ms) {
	struct reading *now = &records->now;
	uint64_t samples;
	bool is_samples = records->len < RECORDS_LINE &&
			  records_read_samples((struct str){records->line, records->len}, &samples);
	records->len = 0;
	if (is_samples) {
		now->samples = samples;
		now->at_ms = now_ms;
	}
	now->has_samples = is_samples || (now->has_samples && records->unit == RECORDS_SAMPLES);
	now->count += records->unit == RECORDS_LINES;
}

/** Append @piece to the current line, as far as it fits. */
static void add_to_line(struct records *records, struct str piece) {
	size_t room = records->len < RECORDS_LINE ? RECORDS_LINE - records->len : 0;
	if (room) {
		memcpy(records->line + records->len, piece.p, piece.len < room ? piece.len : room);
	}
	records->len += piece.len;
}

void records_add(struct records *records, struct str text, uint64_t now_ms) {
	if (records->unit == RECORDS_BYTES) {
		records->now.count += text.len;
	}
	while (text.len) {
		const char *end = memchr(text.p, '\n', text.len);
		size_t len = end ? (size_t)(end - text.p) : text.len;
		add_to_line(records, (struct str){text.p, len});
		if (end) {
			end_line(records, now_ms);
		}
		text = str_from(text, end ? len + 1 : len);
	}
}

void records_end(struct records *records, uint64_t now_ms) {
	if (records->len) {
		end_line(records, now_ms);
	}
}

static uint64_t per_second(uint64_t count, uint64_t ms) {
	// In thousandths. If multiplying would overflow, divide first.
	ms = ms ? ms : 1;
	return count <= UINT64_MAX / 1000000 ? count * 1000000 / ms : count / ms * 1000000;
}

struct rate records_rate(enum records_unit unit, const struct run_window *w) {
	struct rate rate = {.unit = unit};
	if (w->end.has_samples) {
		bool twice = w->base_ms && w->base.has_samples && w->end.samples > w->base.samples &&
			     w->end.at_ms > w->base.at_ms;
		rate.unit = RECORDS_SAMPLES;
		rate.whole_run = !twice;
		rate.milli =
			twice ? per_second(w->end.samples - w->base.samples, w->end.at_ms - w->base.at_ms)
			      : per_second(w->end.samples, w->end.at_ms - w->start_ms);
	} else if (unit != RECORDS_SAMPLES) {
		rate.whole_run = !w->base_ms || w->end.count == w->base.count;
		rate.milli = rate.whole_run
				     ? per_second(w->end.count, w->end_ms - w->start_ms)
				     : per_second(w->end.count - w->base.count, w->end_ms - w->base_ms);
	}
	return rate;
}
