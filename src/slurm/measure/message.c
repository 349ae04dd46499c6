// SPDX-License-Identifier: Apache-2.0

#include "measure/message.h"

#include "base/num.h"
#include "measure/records.h"

#define MARK "distrun-probe"

/** Real values are smaller than this (256 TiB), and sums of it over thousands of workers do not overflow. */
#define PLAUSIBLE_MAX ((uint64_t)1 << 48)

static const char *const kinds[N_MESSAGES] = {"ready", "tick", "result"};

static const char *const names[N_FIELDS] = {
	[FIELD_RANK] = "rank",		 [FIELD_CPUS] = "cpus",	      [FIELD_MEMORY_TOTAL] = "memory_total",
	[FIELD_COUNT] = "count",	 [FIELD_AT_MS] = "at_ms",     [FIELD_ENDED] = "ended",
	[FIELD_STATUS] = "status",	 [FIELD_RATE] = "rate",	      [FIELD_UNIT] = "unit",
	[FIELD_WHOLE_RUN] = "whole_run", [FIELD_SPAN_MS] = "span_ms", [FIELD_CPU_MS] = "cpu_ms",
	[FIELD_READ] = "read",		 [FIELD_MEMORY] = "memory",   [FIELD_BY_RSS] = "by_rss",
	[FIELD_LOOKS] = "looks",	 [FIELD_WAITS] = "waits",
};

void message_put(struct buf *out, const struct message *message) {
	buf_putf(out, MARK " %s", kinds[message->kind]);
	for (int i = 0; i < N_FIELDS; i++) {
		if (message->field[i]) {
			buf_putf(out, " %s=%lu", names[i], (unsigned long)message->field[i]);
		}
	}
	buf_puts(out, " node=");
	buf_put(out, message->node);
	buf_putc(out, '\n');
}

static int find(struct str word, const char *const *words, int n) {
	for (int i = 0; i < n; i++) {
		if (str_is(word, words[i])) {
			return i;
		}
	}
	return -1;
}

/** Read "NAME=NUMBER" or "node=NAME". */
static bool read_field(struct str word, struct message *out) {
	size_t equals = str_find(word, '=');
	if (equals == word.len) {
		return false;
	}
	struct str name = {word.p, equals}, value = str_from(word, equals + 1);
	if (str_is(name, "node")) {
		out->node = value;
		return true;
	}
	int i = find(name, names, N_FIELDS);
	return i >= 0 && num_read(value, UINT64_MAX, &out->field[i]) == 0;
}

bool message_read(struct str line, struct message *out) {
	struct message message = {.node = {"", 0}};
	struct str word;
	if (!str_cut(&line, ' ', &word) || !str_is(word, MARK) || !str_cut(&line, ' ', &word)) {
		return false;
	}
	int kind = find(word, kinds, N_MESSAGES);
	if (kind < 0) {
		return false;
	}
	message.kind = (enum message_kind)kind;
	while (str_cut(&line, ' ', &word)) {
		if (!read_field(word, &message)) {
			return false;
		}
	}
	*out = message;
	return true;
}

bool message_is_plausible(const struct message *message) {
	for (int i = 0; i < N_FIELDS; i++) {
		if (message->field[i] > PLAUSIBLE_MAX) {
			return false;
		}
	}
	return message->field[FIELD_UNIT] <= RECORDS_SAMPLES && message->field[FIELD_STATUS] <= 255;
}
