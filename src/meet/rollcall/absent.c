// SPDX-License-Identifier: Apache-2.0

#include "rollcall/decide.h"

#include "base/duration.h"
#include "net/own.h"

#include <sys/epoll.h>

uint32_t absent_list(const struct absent *a, uint32_t *ranks, uint32_t max) {
	uint32_t n = 0;
	for (uint32_t rank = 0; rank < a->call->size && n < max; rank++) {
		if (rank != a->call->rank && !a->roll->seats[rank].guest) {
			ranks[n++] = rank;
		}
	}
	return n;
}

void absent_done(struct absent *a) {
	lookups_end(&a->looked.child);
}

void absent_look_up(struct absent *a, int epoll, bool itself) {
	const char *names[LOOKUPS_MAX];
	uint32_t ranks[LOOKUPS_MAX];
	uint32_t n = absent_list(a, ranks, itself ? 0 : LOOKUPS_MAX);
	absent_done(a);
	a->n_ranks = a->looked.n = 0;
	if (itself) {
		names[0] = a->call->master;
		a->ranks[a->n_ranks++] = a->call->rank;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct str host = roll_host(a->call, ranks[i]);
		if (host.len) {
			names[a->n_ranks] = arena_text(a->call->arena, host.p, host.len);
			a->ranks[a->n_ranks++] = ranks[i];
		}
	}
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = a};
	if (a->n_ranks && (lookups_begin(&a->looked.child, names, a->n_ranks, a->roll->guests->port) < 0 ||
			   epoll_ctl(epoll, EPOLL_CTL_ADD, a->looked.child.fd, &event) < 0)) {
		absent_done(a);
		a->n_ranks = 0;
	}
}

/** Warn if the master's name leads to another machine: members look for the coordinator there. */
static void warn_own_name(const struct absent *a, const struct lookup_answer *answer) {
	const struct roll_call *call = a->call;
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

void absent_read(struct absent *a) {
	struct lookup_answer *answer = &a->looked.at[a->looked.n];
	if (a->looked.n < a->n_ranks && lookups_read(&a->looked.child, answer) > 0) {
		if (a->ranks[a->looked.n++] == a->call->rank) {
			warn_own_name(a, answer);
		}
	} else {
		absent_done(a);
	}
}

/** Whether the host of @rank was looked up. *@answer is the answer; NULL: there is none yet. */
static bool was_looked_up(const struct absent *a, uint32_t rank, const struct lookup_answer **answer) {
	uint32_t i = 0;
	while (i < a->n_ranks && a->ranks[i] != rank) {
		i++;
	}
	*answer = i < a->looked.n ? &a->looked.at[i] : NULL;
	return i < a->n_ranks;
}

/** A clause on the stranger that came from @address, or "never came". */
static const char *who_came(const struct absent *a, const struct address *address) {
	for (uint32_t i = 0; i < a->roll->guests->n_strangers; i++) {
		const struct stranger *s = &a->roll->guests->strangers[i];
		if (s->as >= STRANGER_KEY && address_same(&s->address, address)) {
			return s->as == STRANGER_TORCH
				       ? "which speaks as PyTorch does"
				       : "which calls with another secret, or for another job";
		}
	}
	return "never came";
}

/** Why @rank is absent: a clause. */
static const char *reason(const struct absent *a, uint32_t rank, uint64_t now) {
	const struct lookup_answer *answer;
	bool looked_up = was_looked_up(a, rank, &answer);
	uint64_t gone = a->roll->seats[rank].gone;
	char text[ADDRESS_TEXT];
	if (gone) {
		return arena_format(a->call->arena, "was here, gone for %s",
				    duration_text((now - gone) / 1000 * 1000).s);
	}
	if (!answer) {
		return looked_up ? "no name server answers" : "never came";
	}
	switch (lookup_fault(answer)) {
	case LOOKUP_FOUND:
		address_text(&answer->addresses.at[0], text);
		return arena_format(a->call->arena, "resolves to %s, %s", text,
				    who_came(a, &answer->addresses.at[0]));
	case LOOKUP_NO_NAME:
		return "its name does not resolve";
	case LOOKUP_NO_ADDRESS:
		return "its name has no address";
	default:
		return lookup_why_not(answer);
	}
}

const char *absent_text(const struct absent *a, uint64_t now) {
	struct buf out = BUF(a->call->arena);
	uint32_t ranks[WAIT_NAMES];
	uint32_t n = absent_list(a, ranks, WAIT_NAMES);
	for (uint32_t i = 0; i < n; i++) {
		struct str host = roll_host(a->call, ranks[i]);
		buf_puts(&out, i ? ", " : "");
		buf_put(&out, host);
		buf_putf(&out, host.len ? " (rank %u, %s)" : "rank %u (%s)", ranks[i],
			 reason(a, ranks[i], now));
	}
	roll_put_more(&out, a->call->size - a->roll->present - n);
	return buf_text(&out);
}

void absent_report(const struct absent *a, uint64_t now, struct roll_end *end) {
	uint32_t n = a->call->size - a->roll->present;
	uint32_t *ranks = arena_array(a->call->arena, n, sizeof(*ranks));
	struct absentee *list = arena_array(a->call->arena, n, sizeof(*list));
	n = absent_list(a, ranks, n);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t gone = a->roll->seats[ranks[i]].gone;
		list[i] = (struct absentee){
			.rank = ranks[i],
			.host = roll_host(a->call, ranks[i]),
			.gone_ms = gone ? now - gone : UINT64_MAX,
		};
		was_looked_up(a, ranks[i], &list[i].answer);
	}
	end->absent = list;
	end->n_absent = n;
}
