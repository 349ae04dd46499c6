// SPDX-License-Identifier: Apache-2.0

/** Who is absent, and why. */

#include "rollcall/coordinator.h"

#include <sys/epoll.h>

uint32_t absent_list(const struct coordinator *co, uint32_t *ranks, uint32_t max) {
	uint32_t n = 0;
	for (uint32_t rank = 0; rank < co->call->size && n < max; rank++) {
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
	uint32_t n = absent_list(co, ranks, LOOKUPS_MAX);
	absent_done(co);
	co->n_looked = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct str host = roll_host(co->call, ranks[i]);
		if (host.len) {
			names[co->n_looked] = arena_text(co->arena, host.p, host.len);
			co->answers[co->n_looked] = NULL;
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

void absent_read(struct coordinator *co) {
	struct lookup_answer *answer = arena_alloc(co->arena, sizeof(*answer));
	if (lookups_read(&co->lookups, answer) > 0 && answer->index < co->n_looked) {
		co->answers[answer->index] = answer;
	} else {
		absent_done(co);
	}
}

/** Whether the host of @rank was looked up, and there is no answer yet. */
static bool is_unanswered(const struct coordinator *co, uint32_t rank) {
	for (uint32_t i = 0; i < co->n_looked; i++) {
		if (co->looked[i] == rank) {
			return !co->answers[i];
		}
	}
	return false;
}

static const struct lookup_answer *answer_of(const struct coordinator *co, uint32_t rank) {
	for (uint32_t i = 0; i < co->n_looked; i++) {
		if (co->looked[i] == rank) {
			return co->answers[i];
		}
	}
	return NULL;
}

/** Whether a client of PyTorch came from @address. */
static bool speaks_torch(const struct coordinator *co, const char *address) {
	char text[ADDRESS_TEXT];
	for (uint32_t i = 0; i < co->end->n_strangers; i++) {
		address_text(&co->strangers[i].address, text);
		if (co->strangers[i].as == STRANGER_TORCH && strcmp(text, address) == 0) {
			return true;
		}
	}
	return false;
}

/** Append why @rank is absent: a clause. */
static void put_reason(const struct coordinator *co, uint32_t rank, struct buf *out) {
	const struct lookup_answer *answer = answer_of(co, rank);
	const char *why_not = answer ? lookup_why_not(answer) : NULL;
	if (co->seats[rank].gone) {
		buf_puts(out, "was here, gone for ");
		roll_put_seconds(out, (clock_now_ms() - co->seats[rank].gone) / 1000 * 1000);
	} else if (why_not) {
		bool name = strncmp(why_not, "the name", 8) == 0;
		buf_puts(out, name ? "its" : "");
		buf_puts(out, why_not + (name ? 3 : 0));
	} else if (answer) {
		char text[ADDRESS_TEXT];
		address_text(&answer->addresses.at[0], text);
		buf_putf(out, "resolves to %s, %s", text,
			 speaks_torch(co, text) ? "which speaks as PyTorch does" : "never came");
	} else {
		buf_puts(out, is_unanswered(co, rank) ? "no name server answers" : "never came");
	}
}

void absent_put(struct coordinator *co, struct buf *out) {
	uint32_t ranks[WAIT_NAMES];
	uint32_t n = absent_list(co, ranks, WAIT_NAMES);
	for (uint32_t i = 0; i < n; i++) {
		struct str host = roll_host(co->call, ranks[i]);
		buf_puts(out, i ? ", " : "");
		if (host.len) {
			buf_put(out, host);
			buf_puts(out, " (");
		}
		buf_putf(out, host.len ? "rank %u, " : "rank %u (", ranks[i]);
		put_reason(co, ranks[i], out);
		buf_putc(out, ')');
	}
	uint32_t absent = co->call->size - co->present;
	if (absent > n) {
		buf_putf(out, " and %u more", absent - n);
	}
}

void absent_report(struct coordinator *co) {
	uint32_t n = co->call->size - co->present;
	uint32_t *ranks = arena_array(co->arena, n + 1, sizeof(*ranks));
	struct absentee *list = arena_array(co->arena, n + 1, sizeof(*list));
	n = absent_list(co, ranks, n);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t gone = co->seats[ranks[i]].gone;
		list[i] = (struct absentee){
			.rank = ranks[i],
			.host = roll_host(co->call, ranks[i]),
			.gone_ms = gone ? clock_now_ms() - gone : UINT64_MAX,
			.answer = answer_of(co, ranks[i]),
		};
	}
	co->end->absent = list;
	co->end->n_absent = n;
}
