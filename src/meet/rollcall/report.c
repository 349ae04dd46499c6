// SPDX-License-Identifier: Apache-2.0

#include "rollcall/rollcall.h"

#include "base/secret.h"
#include "base/signals.h"
#include "cluster/endpoint.h"

static const char *const results[] = {
	[ROLL_STARTED] = "started",   [ROLL_ABSENT] = "absent",
	[ROLL_DISAGREE] = "disagree", [ROLL_DUPLICATE] = "duplicate",
	[ROLL_PORT] = "port",	      [ROLL_SIGNAL] = "signal",
	[ROLL_ERROR] = "error",	      [ROLL_ASKED_TO_END] = "asked_to_end",
	[ROLL_REPLACED] = "replaced",
};

static void put_address(struct json *json, const char *key, const struct address *address) {
	char text[ADDRESS_TEXT];
	address_text(address, text);
	json_text(json, key, text);
}

void roll_put_host(struct json *json, struct str host) {
	json_text(json, "host", host.len ? arena_text(json->out->arena, host.p, host.len) : NULL);
}

static void put_absentee(struct json *json, const struct absentee *a) {
	const struct lookup_answer *answer = a->answer;
	int resolves = answer ? lookup_fault(answer) == LOOKUP_FOUND : -1;
	bool never = a->gone_ms == UINT64_MAX;
	json_number(json, "rank", a->rank);
	roll_put_host(json, a->host);
	json_text(json, "seen", never ? "never" : "gone");
	json_number(json, "gone_ms", never ? UINT32_MAX : a->gone_ms);
	json_fact(json, "resolves", resolves);
	json_open(json, "addresses", '[');
	for (uint32_t i = 0; resolves > 0 && i < answer->addresses.n; i++) {
		put_address(json, NULL, &answer->addresses.at[i]);
	}
	json_close(json, ']');
}

static void put_stranger(struct json *json, const struct stranger *s) {
	static const char *const words[] = {
		[STRANGER_SILENT] = "silent",
		[STRANGER_OTHER] = "other",
		[STRANGER_KEY] = "key",
		[STRANGER_TORCH] = "torch",
	};
	put_address(json, "address", &s->address);
	json_number(json, "times", s->times);
	json_text(json, "as", words[s->as]);
}

static void put_coordinator(struct json *json, const struct roll_call *call, const struct roll_end *end) {
	json_number(json, "present", end->present);
	json_open(json, "absent", '[');
	for (uint32_t i = 0; i < end->n_absent; i++) {
		json_open(json, NULL, '{');
		put_absentee(json, &end->absent[i]);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_number(json, "restarts", end->restarts);
	if (end->last_ms) {
		json_open(json, "last", '{');
		json_number(json, "rank", end->last);
		roll_put_host(json, roll_host(call, end->last));
		json_number(json, "after_ms", end->last_ms);
		json_close(json, '}');
	} else {
		json_text(json, "last", NULL);
	}
	json_open(json, "differs", '[');
	for (const struct difference *d = end->differences; d; d = d->next) {
		difference_json(end->compared, d, call->agree >> d->group & 1, json);
	}
	json_close(json, ']');
	json_open(json, "clocks", '{');
	buf_putf(json_value(json, "worst_ms"), "%s%lu", end->clock_ms < 0 ? "-" : "",
		 (unsigned long)roll_clock_off(end->clock_ms));
	json_number(json, "rank", end->clock_rank);
	json_close(json, '}');
	json_open(json, "strangers", '[');
	for (uint32_t i = 0; i < end->n_strangers; i++) {
		json_open(json, NULL, '{');
		put_stranger(json, &end->strangers[i]);
		json_close(json, '}');
	}
	json_close(json, ']');
}

/** Append the coordinator's list of absentees, at most WAIT_NAMES. */
static void put_news(struct json *json, const struct wait_news *news) {
	json_number(json, "present", news->present);
	json_open(json, "absent", '[');
	for (uint32_t i = 0; i < news->n; i++) {
		json_open(json, NULL, '{');
		json_number(json, "rank", news->at[i].rank);
		roll_put_host(json, news->at[i].host);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void put_member(struct json *json, const struct roll_call *call, const struct roll_end *end) {
	if (end->news) {
		put_news(json, end->news);
	}
	json_text(json, "coordinator", endpoint_text(call->arena, call->master, end->port));
	json_fact(json, "reached", end->reached);
	json_text(json, "failure", end->result != ROLL_STARTED ? end->failure.text : NULL);
}

void roll_report(const struct roll_call *call, const struct roll_end *end, struct json *json) {
	bool first = call->rank == 0;
	json_number(json, "version", 2);
	json_text(json, "result", results[end->result]);
	json_text(json, "role", first ? "coordinator" : "member");
	json_text(json, "job", secret_text(json->out->arena, call->job));
	json_number(json, "rank", call->rank);
	json_number(json, "size", call->size);
	json_text(json, "scope", scope_name(call->cluster->scope));
	json_number(json, "port", end->port);
	json_number(json, "port_moved_from", end->moved ? call->port : UINT32_MAX);
	json_fact(json, "authenticated", call->secret);
	json_number(json, "took_ms", end->took_ms);
	json_number(json, "waited_ms", end->waited_ms);
	json_text(json, "signal", end->signal ? signal_name(end->signal).s : NULL);
	(first ? put_coordinator : put_member)(json, call, end);
	json_text(json, "error", end->error.text[0] ? end->error.text : NULL);
}
