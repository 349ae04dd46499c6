// SPDX-License-Identifier: Apache-2.0

/** The coordinator's connections: what is kept of one that is gone, and late answers. */

#include "rollcall/coordinator.h"

#include "check.h"
#include "fixture.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define SIZE 3

static struct arena arena;

static void be_silent(void *context, enum roll_level level, const char *text) {
	(void)context, (void)level, (void)text;
}

static struct coordinator *open_coordinator(const struct roll_call *call, struct roll_end *end) {
	struct coordinator *co = arena_alloc(&arena, sizeof(*co));
	memset(co, 0, sizeof(*co));
	co->call = call;
	co->end = end;
	co->arena = &arena;
	co->size = SIZE;
	co->seats = arena_array(&arena, SIZE, sizeof(*co->seats));
	memset(co->seats, 0, SIZE * sizeof(*co->seats));
	co->present = 1;
	co->max_guests = 10;
	co->lookups.fd = -1;
	co->epoll = epoll_create1(EPOLL_CLOEXEC);
	return co;
}

/** A new guest, and the member at the other end. */
static struct guest *arrive(struct coordinator *co, struct line *member) {
	static const unsigned char nonce[NONCE_BYTES];
	static const struct address peer = {.v4 = {.sin_family = AF_INET}, .len = sizeof(peer.v4)};
	unsigned char greeting[GREETING_BYTES];
	int fds[2] = {-1, -1};
	check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
	struct guest *guest = guest_arrive(co, fds[0], &peer);
	check(read(fds[1], greeting, sizeof(greeting)) == sizeof(greeting));
	line_begin(member, fds[1], 'm', &co->call->key, greeting, nonce);
	return guest;
}

/** It says HELLO: @rank, and its process. What it runs differs from what others run. */
static void say_hello(struct coordinator *co, struct guest *guest, struct line *member, uint32_t rank,
		      uint64_t incarnation) {
	unsigned char payload[HELLO_MAX];
	const struct hello hello = {.rank = rank,
				    .size = SIZE,
				    .incarnation = incarnation,
				    .clock_ms = roll_clock_ms(),
				    .left_ms = 1000,
				    .digest = {[FACTS_PROGRAM] = 7},
				    .host = STR("n1"),
				    .node = STR("n1"),
				    .version = STR("1.0.0")};
	check(line_send(member, FRAME_HELLO, payload, hello_encode(&hello, payload)) == 0);
	guest_read(co, guest);
}

/** Two say one rank; the first of them goes, and somebody else comes, before that is told. */
static void test_duplicate(const struct roll_call *call) {
	struct roll_end end = {0};
	struct coordinator *co = open_coordinator(call, &end);
	struct line members[4];
	struct guest *guests[4];
	for (unsigned i = 0; i < 3; i++) {
		guests[i] = arrive(co, &members[i]);
		say_hello(co, guests[i], &members[i], 1, i == 1 ? 200 : 100);
	}
	check(co->duplicate[0] == guests[1] && co->duplicate[1] == guests[2]);
	close(members[1].fd);
	guest_read(co, guests[1]);
	check(guests[1]->state == GUEST_FREE);
	guests[3] = arrive(co, &members[3]);
	check(guests[3] != guests[1] && str_is(guest_name(co->duplicate[0]), "n1"));
}

static void answer(struct coordinator *co, struct guest *guest, struct line *member) {
	static const char facts[] = {FACTS_PROGRAM, 0, 0};
	check(line_send(member, FRAME_FACTS, facts, sizeof(facts)) == 0);
	guest_read(co, guest);
}

/** Somebody comes while all are compared: the comparison begins anew, and answers come twice. */
static void test_late_facts(const struct roll_call *call) {
	struct roll_end end = {0};
	struct coordinator *co = open_coordinator(call, &end);
	struct line member;
	struct guest *guest = arrive(co, &member);
	say_hello(co, guest, &member, 1, 100);
	agree_begin(co);
	check(co->n_asked == 1 && guest->asked == 1);
	agree_begin(co);
	check(co->n_asked == 1 && guest->asked == 2);
	answer(co, guest, &member);
	check(co->n_asked == 0 && guest->state == GUEST_PRESENT);
	answer(co, guest, &member);
	check(co->n_asked == 0 && guest->asked == 0 && guest->state == GUEST_PRESENT);
	// Nobody asked for a third one.
	answer(co, guest, &member);
	check(guest->state == GUEST_FREE);
}

/** The second comparison has nothing to ask: the answer to the first does not count for it. */
static void test_forgotten_question(const struct roll_call *call) {
	struct roll_end end = {0};
	struct coordinator *co = open_coordinator(call, &end);
	struct line member;
	struct guest *guest = arrive(co, &member);
	say_hello(co, guest, &member, 1, 100);
	agree_begin(co);
	check(co->n_asked == 1);
	guest->digest[FACTS_PROGRAM] = 0;
	agree_begin(co);
	check(co->n_asked == 0);
	answer(co, guest, &member);
	check(co->n_asked == 0 && guest->state == GUEST_PRESENT);
}

/** Send an answer in as many writes as it has bytes; the coordinator reads after each. */
static void answer_slowly(struct coordinator *co, struct guest *guest, struct line *member) {
	static const char facts[] = {FACTS_PROGRAM, 0, 0};
	unsigned char bytes[FRAME_MAX];
	int socket = member->fd, ends[2] = {-1, -1};
	check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	member->fd = ends[1];
	check(line_send(member, FRAME_FACTS, facts, sizeof(facts)) == 0);
	member->fd = socket;
	ssize_t n = read(ends[0], bytes, sizeof(bytes));
	check(n > (ssize_t)sizeof(facts));
	for (ssize_t i = 0; i < n; i++) {
		check(guest->state == GUEST_PRESENT && co->n_asked == 1);
		check(write(socket, bytes + i, 1) == 1);
		guest_read(co, guest);
	}
	close(ends[0]);
	close(ends[1]);
}

/** Frames do not come one by one: several at once, and parts of one. */
static void test_pieces(const struct roll_call *call) {
	static const char facts[] = {FACTS_PROGRAM, 0, 0};
	struct roll_end end = {0};
	struct coordinator *co = open_coordinator(call, &end);
	struct line member;
	struct guest *guest = arrive(co, &member);
	say_hello(co, guest, &member, 1, 100);
	agree_begin(co);
	agree_begin(co);
	check(line_send(&member, FRAME_FACTS, facts, sizeof(facts)) == 0);
	answer(co, guest, &member);
	check(co->n_asked == 0 && guest->asked == 0 && guest->state == GUEST_PRESENT);
	agree_begin(co);
	check(co->n_asked == 1 && guest->asked == 1);
	answer_slowly(co, guest, &member);
	check(co->n_asked == 0 && guest->asked == 0 && guest->state == GUEST_PRESENT);
}

/** One rank comes three times: each as a new process, the last after the one before has gone. */
static void test_restarts(const struct roll_call *call) {
	struct roll_end end = {0};
	struct coordinator *co = open_coordinator(call, &end);
	struct line members[3];
	struct guest *guests[3];
	for (unsigned i = 0; i < 3; i++) {
		check(end.restarts == i - (i > 0));
		if (i == 2) {
			close(members[1].fd);
			co->now = 1;
			guest_read(co, guests[1]);
			check(co->present == 1 && !co->seats[1].guest);
		}
		guests[i] = arrive(co, &members[i]);
		say_hello(co, guests[i], &members[i], 1, 100 * (i + 1));
		check(co->present == 2 && co->seats[1].guest == guests[i] && !co->duplicate[0]);
		check(guests[0]->state == (i == 0 ? GUEST_PRESENT : GUEST_FREE) || guests[0] == guests[i]);
	}
	check(end.restarts == 2 && end.last == 1);
}

int main(void) {
	static struct cluster cluster;
	static struct facts facts;
	arena = fixture_arena();
	const struct roll_call call = {.arena = &arena,
				       .cluster = &cluster,
				       .size = SIZE,
				       .noun = "nodes",
				       .node = "n0",
				       .master = "n0",
				       .facts = &facts,
				       .say = be_silent};
	test_duplicate(&call);
	test_late_facts(&call);
	test_forgotten_question(&call);
	test_pieces(&call);
	test_restarts(&call);
	return check_done();
}
