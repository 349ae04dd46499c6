// SPDX-License-Identifier: Apache-2.0

#include "rollcall/rollcall.h"

#include "base/json_write.h"
#include "base/secret.h"
#include "base/signals.h"
#include "cluster/endpoint.h"

static const char *const results[] = {
	[ROLL_STARTED] = "started",	[ROLL_ABSENT] = "absent", [ROLL_DISAGREE] = "disagree",
	[ROLL_DUPLICATE] = "duplicate", [ROLL_PORT] = "port",	  [ROLL_SIGNAL] = "signal",
	[ROLL_ERROR] = "error",
};

static void put_address(struct buf *out, const struct address *address) {
	char text[ADDRESS_TEXT];
	address_text(address, text);
	json_put_text(out, text);
}

void roll_put_host(struct buf *out, struct str host) {
	json_put_member(out, "host", host.len ? arena_text(out->arena, host.p, host.len) : NULL);
}

static void put_absentee(struct buf *out, const struct absentee *a) {
	const struct lookup_answer *answer = a->answer;
	int resolves = answer ? !lookup_why_not(answer) : -1;
	bool never = a->gone_ms == UINT64_MAX;
	json_put_number(out, "rank", a->rank);
	roll_put_host(out, a->host);
	json_put_member(out, "seen", never ? "never" : "gone");
	json_put_number(out, "gone_ms", never ? UINT32_MAX : a->gone_ms);
	json_put_fact(out, "resolves", resolves);
	buf_puts(out, ", \"addresses\": [");
	for (uint32_t i = 0; resolves > 0 && i < answer->addresses.n; i++) {
		buf_puts(out, i ? ", " : "");
		put_address(out, &answer->addresses.at[i]);
	}
	buf_puts(out, "]}");
}

static void put_stranger(struct buf *out, const struct stranger *s) {
	static const char *const words[] = {
		[STRANGER_SILENT] = "silent",
		[STRANGER_OTHER] = "other",
		[STRANGER_KEY] = "key",
		[STRANGER_TORCH] = "torch",
	};
	json_put_key(out, "address");
	put_address(out, &s->address);
	json_put_number(out, "times", s->times);
	json_put_member(out, "as", words[s->as]);
	buf_putc(out, '}');
}

static void put_coordinator(struct buf *out, const struct roll_call *call, const struct roll_end *end) {
	json_put_number(out, "present", end->present);
	buf_puts(out, ", \"absent\": [");
	for (uint32_t i = 0; i < end->n_absent; i++) {
		buf_puts(out, i ? ", {" : "{");
		put_absentee(out, &end->absent[i]);
	}
	buf_putc(out, ']');
	json_put_number(out, "restarts", end->restarts);
	json_put_key(out, "last");
	buf_puts(out, end->last_ms ? "{" : "null");
	if (end->last_ms) {
		json_put_number(out, "rank", end->last);
		roll_put_host(out, roll_host(call, end->last));
		json_put_number(out, "after_ms", end->last_ms);
		buf_putc(out, '}');
	}
	buf_puts(out, ", \"differs\": [");
	for (const struct difference *d = end->differences; d; d = d->next) {
		buf_puts(out, d == end->differences ? "" : ", ");
		difference_json(end->compared, d, call->agree >> d->group & 1, out);
	}
	bool behind = end->clock_ms < 0;
	buf_putf(out, "], \"clocks\": {\"worst_ms\": %s%lu, \"rank\": %u}, \"strangers\": [",
		 behind ? "-" : "", (unsigned long)roll_clock_off(end->clock_ms), end->clock_rank);
	for (uint32_t i = 0; i < end->n_strangers; i++) {
		buf_puts(out, i ? ", {" : "{");
		put_stranger(out, &end->strangers[i]);
	}
	buf_putc(out, ']');
}

/** Who was absent, as the coordinator said: at most WAIT_NAMES. */
static void put_news(struct buf *out, const struct wait_news *news) {
	json_put_number(out, "present", news->present);
	buf_puts(out, ", \"absent\": [");
	for (uint32_t i = 0; i < news->n; i++) {
		buf_puts(out, i ? ", {" : "{");
		json_put_number(out, "rank", news->at[i].rank);
		roll_put_host(out, news->at[i].host);
		buf_putc(out, '}');
	}
	buf_putc(out, ']');
}

static void put_member(struct buf *out, const struct roll_call *call, const struct roll_end *end) {
	if (end->news) {
		put_news(out, end->news);
	}
	json_put_member(out, "coordinator", endpoint_text(call->arena, call->master, end->port));
	json_put_fact(out, "reached", end->reached);
	json_put_member(out, "failure", end->result != ROLL_STARTED ? end->failure.text : NULL);
}

void roll_report(const struct roll_call *call, const struct roll_end *end, struct buf *out) {
	bool first = call->rank == 0;
	json_put_number(out, "version", 2);
	json_put_member(out, "result", results[end->result]);
	json_put_member(out, "role", first ? "coordinator" : "member");
	json_put_member(out, "job", secret_text(out->arena, call->job));
	json_put_number(out, "rank", call->rank);
	json_put_number(out, "size", call->size);
	json_put_member(out, "scope", scope_name(call->cluster->scope));
	json_put_number(out, "port", end->port);
	json_put_number(out, "port_moved_from", end->moved ? call->port : UINT32_MAX);
	json_put_fact(out, "authenticated", call->secret);
	json_put_number(out, "took_ms", end->took_ms);
	json_put_number(out, "waited_ms", end->waited_ms);
	json_put_member(out, "signal", end->signal ? signal_name(end->signal).s : NULL);
	(first ? put_coordinator : put_member)(out, call, end);
	json_put_member(out, "error", end->error.text[0] ? end->error.text : NULL);
}
