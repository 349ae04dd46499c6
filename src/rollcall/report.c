// SPDX-License-Identifier: Apache-2.0

#include "rollcall/rollcall.h"

#include "base/json_write.h"

static const char *const results[] = {
	[ROLL_STARTED] = "started",	[ROLL_ABSENT] = "absent", [ROLL_DISAGREE] = "disagree",
	[ROLL_DUPLICATE] = "duplicate", [ROLL_PORT] = "port",	  [ROLL_SIGNAL] = "signal",
	[ROLL_ERROR] = "error",
};

static const char *json_bool(bool value) {
	return value ? "true" : "false";
}

static void put_key(struct buf *out, const char *key) {
	buf_putf(out, "\"%s\": ", key);
}

static void put_address(struct buf *out, const struct address *address) {
	char text[ADDRESS_TEXT];
	address_text(address, text);
	json_put_text(out, text);
}

static void put_absentee(struct buf *out, const struct absentee *a) {
	const struct lookup_answer *answer = a->answer;
	bool resolves = answer && !lookup_why_not(answer);
	buf_putf(out, "{\"rank\": %u, \"host\": ", a->rank);
	if (a->host.len) {
		json_put_string(out, a->host);
	} else {
		buf_puts(out, "null");
	}
	bool never = a->gone_ms == UINT64_MAX;
	buf_putf(out, ", \"seen\": \"%s\", \"gone_ms\": ", never ? "never" : "gone");
	if (never) {
		buf_puts(out, "null");
	} else {
		buf_putu(out, a->gone_ms);
	}
	buf_putf(out, ", \"resolves\": %s, \"addresses\": [", answer ? json_bool(resolves) : "null");
	for (uint32_t i = 0; resolves && i < answer->addresses.n; i++) {
		buf_puts(out, i ? ", " : "");
		put_address(out, &answer->addresses.at[i]);
	}
	buf_puts(out, "]}");
}

static void put_strangers(struct buf *out, const struct roll_end *end) {
	static const char *const words[] = {
		[STRANGER_SILENT] = "silent", [STRANGER_OTHER] = "other", [STRANGER_TORCH] = "torch"};
	for (uint32_t i = 0; i < end->n_strangers; i++) {
		const struct stranger *s = &end->strangers[i];
		buf_puts(out, i ? ", {\"address\": " : "{\"address\": ");
		put_address(out, &s->address);
		buf_putf(out, ", \"times\": %u, \"as\": \"%s\"}", s->times, words[s->as]);
	}
}

static void put_differences(struct buf *out, const struct roll_call *call, const struct roll_end *end) {
	for (const struct difference *d = end->differences; d; d = d->next) {
		buf_puts(out, d == end->differences ? "" : ", ");
		difference_json(end->compared, d, call->agree >> d->group & 1, out);
	}
}

static void put_coordinator(struct buf *out, const struct roll_call *call, const struct roll_end *end) {
	buf_putf(out, ", \"present\": %u, \"absent\": [", end->present);
	for (uint32_t i = 0; i < end->n_absent; i++) {
		buf_puts(out, i ? ", " : "");
		put_absentee(out, &end->absent[i]);
	}
	buf_putf(out, "], \"restarts\": %u, \"last\": ", end->restarts);
	if (end->last_ms) {
		buf_putf(out, "{\"rank\": %u, \"host\": ", end->last);
		json_put_string(out, roll_host(call, end->last));
		buf_putf(out, ", \"after_ms\": %lu}", (unsigned long)end->last_ms);
	} else {
		buf_puts(out, "null");
	}
	buf_puts(out, ", \"differs\": [");
	put_differences(out, call, end);
	bool behind = end->clock_ms < 0;
	buf_putf(out, "], \"clocks\": {\"worst_ms\": %s%lu, \"rank\": %u}, \"strangers\": [",
		 behind ? "-" : "", (unsigned long)(behind ? -end->clock_ms : end->clock_ms),
		 end->clock_rank);
	put_strangers(out, end);
	buf_puts(out, "]");
}

static void put_member(struct buf *out, const struct roll_call *call, const struct roll_end *end) {
	buf_puts(out, ", \"coordinator\": ");
	json_put_text(out, arena_format(call->arena, "%s:%u", call->master, end->port));
	buf_putf(out, ", \"reached\": %s, \"failure\": ", json_bool(end->reached));
	json_put_text(out, end->result != ROLL_STARTED ? end->failure.text : NULL);
}

void roll_report(const struct roll_call *call, const struct roll_end *end, struct buf *out) {
	bool first = call->rank == 0;
	buf_putf(out, "\"version\": 1, \"result\": \"%s\", \"role\": \"%s\", ", results[end->result],
		 first ? "coordinator" : "member");
	put_key(out, "job");
	json_put_text(out, call->job);
	buf_putf(out, ", \"rank\": %u, \"size\": %u, \"scope\": \"%s\", \"port\": %u, \"port_moved_from\": ",
		 call->rank, call->size, scope_name(call->cluster->scope), end->port);
	if (end->moved) {
		buf_putu(out, call->port);
	} else {
		buf_puts(out, "null");
	}
	buf_putf(out, ", \"authenticated\": %s, \"took_ms\": %lu, \"waited_ms\": %lu",
		 json_bool(call->secret), (unsigned long)end->took_ms, (unsigned long)end->waited_ms);
	if (first) {
		put_coordinator(out, call, end);
	} else {
		put_member(out, call, end);
	}
	buf_puts(out, ", \"error\": ");
	json_put_text(out, end->error.text[0] ? end->error.text : NULL);
}
