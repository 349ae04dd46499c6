// SPDX-License-Identifier: Apache-2.0

/** Who is absent, and why. */

#include "rollcall/coordinator.h"

#include "base/duration.h"
#include "net/own.h"

#include <sys/epoll.h>

uint32_t absent_list(const struct coordinator *co, uint32_t *ranks, uint32_t max) {
	uint32_t n = 0;
	for (uint32_t rank = 0; rank < co->size && n < max; rank++) {
		if (rank != co->call->rank && !co->seats[rank].guest) {
			ranks[n++] = rank;
		}
	}
	return n;
}

void absent_done(struct coordinator *co) {
	lookups_end(&co->lookups);
}

void absent_look_up(struct coordinator *co) {
	const char *names[LOOKUPS_MAX];
	uint32_t ranks[LOOKUPS_MAX];
	uint32_t n = absent_list(co, ranks, co->knows_itself ? LOOKUPS_MAX : 0);
	absent_done(co);
	co->n_looked = co->n_answers = 0;
	if (!co->knows_itself) {
		names[0] = co->call->master;
		co->looked[co->n_looked++] = co->call->rank;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct str host = roll_host(co->call, ranks[i]);
		if (host.len) {
			names[co->n_looked] = arena_text(co->arena, host.p, host.len);
			co->looked[co->n_looked++] = ranks[i];
		}
	}
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = &co->lookups};
	if (co->n_looked && (lookups_begin(&co->lookups, names, co->n_looked, co->port) < 0 ||
			     epoll_ctl(co->epoll, EPOLL_CTL_ADD, co->lookups.fd, &event) < 0)) {
		absent_done(co);
		co->n_looked = 0;
	}
}

/** Members look for the master by its name. If that is not this host, they do not come here. */
static void judge_itself(const struct coordinator *co, const struct lookup_answer *answer) {
	const struct roll_call *call = co->call;
	const struct addresses *addresses = &answer->addresses;
	const char *why_not = lookup_why_not(answer);
	char text[ADDRESS_TEXT];
	uint32_t i = 0;
	if (why_not) {
		if (call->pod) {
			roll_say(call, ROLL_WARNING, "roll call: %s is the master, but %s here: %s",
				 call->master, why_not, roll_not_ready);
		}
		return;
	}
	while (i < addresses->n && !own_address(&addresses->at[i])) {
		i++;
	}
	if (i == addresses->n) {
		address_text(&addresses->at[0], text);
		roll_say(call, ROLL_WARNING,
			 "roll call: the master, %s, is %s, which is no address of this host: members look "
			 "for it there. Are there two of rank 0?",
			 call->master, text);
	}
}

void absent_read(struct coordinator *co) {
	struct lookup_answer *answer = &co->answers[co->n_answers];
	if (co->n_answers < co->n_looked && lookups_read(&co->lookups, answer) > 0) {
		if (co->looked[co->n_answers++] == co->call->rank) {
			judge_itself(co, answer);
		}
	} else {
		absent_done(co);
	}
}

/** Whether the host of @rank was looked up, with the answer, or NULL if there is none yet. */
static bool was_looked_up(const struct coordinator *co, uint32_t rank, const struct lookup_answer **answer) {
	uint32_t i = 0;
	while (i < co->n_looked && co->looked[i] != rank) {
		i++;
	}
	*answer = i < co->n_answers ? &co->answers[i] : NULL;
	return i < co->n_looked;
}

/** What came from @address, beside members. */
static const char *who_came(const struct coordinator *co, const struct address *address) {
	for (uint32_t i = 0; i < co->end->n_strangers; i++) {
		const struct stranger *s = &co->strangers[i];
		if (s->as >= STRANGER_KEY && str_eq(address_bytes(&s->address), address_bytes(address))) {
			return s->as == STRANGER_TORCH
				       ? "which speaks as PyTorch does"
				       : "which calls with another secret, or for another job";
		}
	}
	return "never came";
}

/** Why @rank is absent: a clause. */
static const char *reason(const struct coordinator *co, uint32_t rank) {
	const struct lookup_answer *answer;
	bool looked_up = was_looked_up(co, rank, &answer);
	uint64_t gone = co->seats[rank].gone;
	char text[ADDRESS_TEXT];
	if (gone) {
		return arena_format(co->arena, "was here, gone for %s",
				    duration_text((co->now - gone) / 1000 * 1000).s);
	}
	if (!answer) {
		return looked_up ? "no name server answers" : "never came";
	}
	switch (lookup_fault(answer)) {
	case LOOKUP_FOUND:
		address_text(&answer->addresses.at[0], text);
		return arena_format(co->arena, "resolves to %s, %s", text,
				    who_came(co, &answer->addresses.at[0]));
	case LOOKUP_NO_NAME:
		return "its name does not resolve";
	case LOOKUP_NO_ADDRESS:
		return "its name has no address";
	default:
		return lookup_why_not(answer);
	}
}

const char *absent_text(struct coordinator *co) {
	struct buf out = BUF(co->arena);
	uint32_t ranks[WAIT_NAMES];
	uint32_t n = absent_list(co, ranks, WAIT_NAMES);
	for (uint32_t i = 0; i < n; i++) {
		struct str host = roll_host(co->call, ranks[i]);
		buf_puts(&out, i ? ", " : "");
		buf_put(&out, host);
		buf_putf(&out, host.len ? " (rank %u, %s)" : "rank %u (%s)", ranks[i], reason(co, ranks[i]));
	}
	roll_put_more(&out, co->size - co->present - n);
	return buf_text(&out);
}

void absent_report(struct coordinator *co) {
	uint32_t n = co->size - co->present;
	uint32_t *ranks = arena_array(co->arena, n, sizeof(*ranks));
	struct absentee *list = arena_array(co->arena, n, sizeof(*list));
	n = absent_list(co, ranks, n);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t gone = co->seats[ranks[i]].gone;
		list[i] = (struct absentee){
			.rank = ranks[i],
			.host = roll_host(co->call, ranks[i]),
			.gone_ms = gone ? co->now - gone : UINT64_MAX,
		};
		was_looked_up(co, ranks[i], &list[i].answer);
	}
	co->end->absent = list;
	co->end->n_absent = n;
}
