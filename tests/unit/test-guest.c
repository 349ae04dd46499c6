// SPDX-License-Identifier: Apache-2.0

/** The coordinator's connections: who gets a place, what is kept of one that is gone, and late answers. */

#include "rollcall/coordinator.h"

#include "check.h"
#include "fixture.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define SIZE 3

static struct arena arena;

/** What the next HELLO says. */
static enum able unable;
static uint32_t n_starts;

static void be_silent(void *context, enum roll_level level, const char *text) {
	(void)context, (void)level, (void)text;
}

static struct coordinator *open_coordinator(const struct roll_call *call, struct roll_end *end) {
	struct coordinator *co = arena_alloc(&arena, sizeof(*co));
	coordinator_init(co, call, end);
	co->guests.max_unproved = 4;
	co->guests.max_members = 10;
	co->guests.epoll = epoll_create1(EPOLL_CLOEXEC);
	return co;
}

/** The address 10.0.0.@last. */
static struct address address(uint8_t last) {
	struct address peer = {.v4 = {.sin_family = AF_INET}, .len = sizeof(peer.v4)};
	const unsigned char bytes[] = {10, 0, 0, last};
	memcpy(&peer.v4.sin_addr, bytes, sizeof(bytes));
	return peer;
}

/** The address 2001:db8::@network:0:0:0:@last, in a network of 64 bits. */
static struct address address_v6(uint8_t network, uint8_t last) {
	struct address peer = {.v6 = {.sin6_family = AF_INET6}, .len = sizeof(peer.v6)};
	const unsigned char bytes[16] = {0x20, 0x01, 0x0d, 0xb8, [7] = network, [15] = last};
	memcpy(&peer.v6.sin6_addr, bytes, sizeof(bytes));
	return peer;
}

/** A guest that has connected from @peer, and what it was sent. *@fd is its end. */
static struct guest *connect_peer(struct coordinator *co, struct address peer, int *fd,
				  unsigned char greeting[GREETING_BYTES]) {
	int fds[2] = {-1, -1};
	check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
	struct guest *guest = guest_arrive(&co->guests, fds[0], &peer);
	check(read(fds[1], greeting, GREETING_BYTES) == GREETING_BYTES);
	*fd = fds[1];
	return guest;
}

/** The same from 10.0.0.@last. */
static struct guest *connect_from(struct coordinator *co, uint8_t last, int *fd,
				  unsigned char greeting[GREETING_BYTES]) {
	return connect_peer(co, address(last), fd, greeting);
}

/** A new guest that has proved itself, and the member at the other end. */
static struct guest *arrive(struct coordinator *co, struct line *member) {
	unsigned char greeting[GREETING_BYTES], meet[MEET_BYTES] = {0}, frame[FRAME_MAX];
	struct frame proof;
	int fd;
	struct guest *guest = connect_from(co, 1, &fd, greeting);
	key_proof(&co->call->key, greeting, meet, meet + NONCE_BYTES);
	check(write(fd, meet, sizeof(meet)) == sizeof(meet));
	coordinator_read(co, guest, false);
	check(guest->state == GUEST_PROVED);
	line_begin(member, fd, 'm', &co->call->key, greeting, meet);
	check(line_take(member, frame, sizeof(frame), false, &proof) == 0 && proof.type == FRAME_PROOF);
	return guest;
}

/** It says HELLO: @rank, and its process. What it runs differs from what others run. */
static void say_hello(struct coordinator *co, struct guest *guest, struct line *member, uint32_t rank,
		      uint64_t incarnation) {
	unsigned char payload[HELLO_MAX];
	const struct hello hello = {.rank = rank,
				    .size = SIZE,
				    .starts = n_starts,
				    .able = (uint8_t)unable,
				    .why_not = unable ? STR("no legs") : STR(""),
				    .incarnation = incarnation,
				    .clock_ms = clock_wall_ms(),
				    .left_ms = 1000,
				    .digest = {[FACTS_PROGRAM] = 7},
				    .host = STR("n1"),
				    .node = STR("n1")};
	check(line_send(member, FRAME_HELLO, payload, hello_encode(&hello, payload)) == 0);
	coordinator_read(co, guest, false);
}

/** Two say one rank, and both are alive: nobody starts, both are told, and what happens then changes nothing. */
static void test_duplicate(const struct roll_call *call) {
	struct roll_end end = {0};
	struct coordinator *co = open_coordinator(call, &end);
	struct line members[3];
	struct guest *guests[3];
	for (unsigned i = 0; i < 3; i++) {
		check(co->roll.state == COORDINATOR_CALLING);
		guests[i] = arrive(co, &members[i]);
		say_hello(co, guests[i], &members[i], 1, i == 1 ? 200 : 100);
	}
	check(co->roll.state == COORDINATOR_FAILED && end.result == ROLL_DUPLICATE);
	check_part(end.error.text, "two nodes say that they are rank 1: n1 (10.0.0.1) and n1 (10.0.0.1)",
		   "who");
	check(guests[1]->refused && guests[2]->refused);
	const struct err error = end.error;
	close(members[1].fd);
	coordinator_read(co, guests[1], false);
	check(guests[1]->state == GUEST_FREE);
	coordinator_handle(co, &(struct coordinator_event){.what = COORDINATOR_ASKED_TO_END});
	check(co->done && end.result == ROLL_DUPLICATE && strcmp(end.error.text, error.text) == 0);
}

static void answer(struct coordinator *co, struct guest *guest, struct line *member) {
	static const char facts[] = {FACTS_PROGRAM, 0, 0};
	unsigned char asked[FRAME_MAX];
	check(read(member->fd, asked, sizeof(asked)) > 0 || errno == EAGAIN);
	check(line_send(member, FRAME_FACTS, facts, sizeof(facts)) == 0);
	coordinator_read(co, guest, false);
}

/** Somebody comes while all are compared: the comparison begins anew, and answers come twice. */
static void test_late_facts(const struct roll_call *call) {
	struct roll_end end = {0};
	struct coordinator *co = open_coordinator(call, &end);
	struct line member;
	struct guest *guest = arrive(co, &member);
	say_hello(co, guest, &member, 1, 100);
	agree_begin(&co->roll.agree, co->guests.now);
	check(co->roll.agree.n_asked == 1 && guest->asked == 1);
	agree_begin(&co->roll.agree, co->guests.now);
	check(co->roll.agree.n_asked == 1 && guest->asked == 2);
	answer(co, guest, &member);
	check(co->roll.agree.n_asked == 0 && guest->state == GUEST_PRESENT);
	answer(co, guest, &member);
	check(co->roll.agree.n_asked == 0 && guest->asked == 0 && guest->state == GUEST_PRESENT);
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
	agree_begin(&co->roll.agree, co->guests.now);
	check(co->roll.agree.n_asked == 1);
	guest->digest[FACTS_PROGRAM] = 0;
	agree_begin(&co->roll.agree, co->guests.now);
	check(co->roll.agree.n_asked == 0);
	answer(co, guest, &member);
	check(co->roll.agree.n_asked == 0 && guest->state == GUEST_PRESENT);
}

/** The chunks that comparisons took. Each begins with a pointer to the one before. */
static size_t count_chunks(const struct coordinator *co) {
	size_t n = 0;
	for (const void *chunk = co->roll.agree.scratch.chunks; chunk; chunk = *(const void *const *)chunk) {
		n++;
	}
	return n;
}

/** All is compared anew each time that somebody comes or goes: that takes no more memory. */
static void test_memory(const struct roll_call *call) {
	struct roll_end end = {0};
	struct coordinator *co = open_coordinator(call, &end);
	struct line member;
	struct guest *guest = arrive(co, &member);
	say_hello(co, guest, &member, 1, 100);
	const struct arena before = *co->call->arena;
	size_t chunks = 0;
	for (unsigned i = 0; i < 2000; i++) {
		agree_begin(&co->roll.agree, co->guests.now);
		answer(co, guest, &member);
		check(co->roll.agree.n_asked == 0 && co->roll.agree.compare.n == 2);
		chunks = i == 0 ? count_chunks(co) : chunks;
	}
	check(co->call->arena->next == before.next && co->call->arena->chunks == before.chunks);
	check(count_chunks(co) == chunks);
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
		check(guest->state == GUEST_PRESENT && co->roll.agree.n_asked == 1);
		check(write(socket, bytes + i, 1) == 1);
		coordinator_read(co, guest, false);
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
	agree_begin(&co->roll.agree, co->guests.now);
	agree_begin(&co->roll.agree, co->guests.now);
	check(line_send(&member, FRAME_FACTS, facts, sizeof(facts)) == 0);
	answer(co, guest, &member);
	check(co->roll.agree.n_asked == 0 && guest->asked == 0 && guest->state == GUEST_PRESENT);
	agree_begin(&co->roll.agree, co->guests.now);
	check(co->roll.agree.n_asked == 1 && guest->asked == 1);
	answer_slowly(co, guest, &member);
	check(co->roll.agree.n_asked == 0 && guest->asked == 0 && guest->state == GUEST_PRESENT);
}

/** One rank comes three times: each as a new process, the last after the one before has gone. */
static void test_restarts(const struct roll_call *call) {
	struct roll_end end = {0};
	struct coordinator *co = open_coordinator(call, &end);
	struct line members[3];
	struct guest *guests[3];
	for (unsigned i = 0; i < 3; i++) {
		check(co->roll.restarts == i - (i > 0));
		if (i == 2) {
			close(members[1].fd);
			co->guests.now = 1;
			coordinator_read(co, guests[1], false);
			check(co->roll.present == 1 && !co->roll.seats[1].guest);
		}
		guests[i] = arrive(co, &members[i]);
		say_hello(co, guests[i], &members[i], 1, 100 * (i + 1));
		check(co->roll.present == 2 && co->roll.seats[1].guest == guests[i] &&
		      co->roll.state == COORDINATOR_CALLING);
		check(guests[0]->state == (i == 0 ? GUEST_PRESENT : GUEST_FREE) || guests[0] == guests[i]);
	}
	check(co->roll.restarts == 2 && co->roll.last == 1);
}

/** What came of a proof that is wrong, in @n pieces: nothing is answered. */
static void test_wrong_proof(const struct roll_call *call) {
	struct roll_end end = {0};
	struct coordinator *co = open_coordinator(call, &end);
	unsigned char greeting[GREETING_BYTES], meet[MEET_BYTES], byte;
	for (size_t i = 0; i < MEET_BYTES * 8; i++) {
		int fd;
		struct guest *guest = connect_from(co, 2, &fd, greeting);
		memset(meet, 0x80, sizeof(meet));
		key_proof(&call->key, greeting, meet, meet + NONCE_BYTES);
		meet[i / 8] ^= (unsigned char)(1 << i % 8);
		static const size_t until[] = {0, 1, MEET_BYTES - 1};
		for (size_t j = 1; j < 3; j++) {
			const size_t n = until[j] - until[j - 1];
			check(write(fd, meet + until[j - 1], n) == (ssize_t)n);
			coordinator_read(co, guest, false);
			check(guest->state == GUEST_UNPROVED && co->guests.n_unproved == 1);
		}
		check(write(fd, meet + MEET_BYTES - 1, 1) == 1);
		coordinator_read(co, guest, false);
		checkf(guest->state == GUEST_FREE && read(fd, &byte, 1) <= 0, "bit %zu of MEET", i);
		close(fd);
	}
	check(co->guests.n_strangers == 1 && co->guests.strangers[0].as == STRANGER_KEY &&
	      co->guests.n_unproved == 0);
}

/** The places of the unproved are full: one from the address that has the most goes, the oldest. */
static void test_places(const struct roll_call *call) {
	static const uint8_t from[] = {1, 2, 2, 3};
	struct roll_end end = {0};
	struct coordinator *co = open_coordinator(call, &end);
	unsigned char greeting[GREETING_BYTES];
	struct guest *guests[5];
	int fds[6];
	for (unsigned i = 0; i < 4; i++) {
		guests[i] = connect_from(co, from[i], &fds[i], greeting);
	}
	check(co->guests.n_unproved == 4 && guests_to_evict(&co->guests) == guests[1]);
	guests[4] = connect_from(co, 4, &fds[4], greeting);
	check(guests[4] == guests[1] && co->guests.n_unproved == 4);
	// Now each has one. Those of hosts that are listed stay.
	check(guests_to_evict(&co->guests) == guests[0]);
	co->absent.looked.n = 1;
	co->absent.looked.at[0].addresses = (struct addresses){.n = 2, .at = {address(1), address(3)}};
	check(guests_to_evict(&co->guests) == guests[2]);
	// Each comes again and goes: the same places are used.
	for (unsigned i = 0; i < 1000; i++) {
		struct guest *guest = connect_from(co, (uint8_t)(5 + i % 200), &fds[5], greeting);
		check(co->guests.n_unproved == 4 && guest->state == GUEST_UNPROVED);
		coordinator_read(co, guest, false);
		close(fds[5]);
		coordinator_read(co, guest, true);
		check(guest->state == GUEST_FREE && co->guests.n_unproved == 3);
	}
}

/** Whether @guest still has its place: the struct of one that has gone is another's. */
static bool is_here(const struct guest *guest, struct address peer) {
	return guest->state == GUEST_UNPROVED && str_eq(address_bytes(&guest->peer), address_bytes(&peer));
}

/**
 * A flood takes no place from others: from all addresses of another IPv6 network than the member's, or from one
 * address of the same network.
 */
static void test_network(const struct roll_call *call, bool same) {
	struct roll_end end = {0};
	struct coordinator *co = open_coordinator(call, &end);
	unsigned char greeting[GREETING_BYTES];
	int fd;
	struct guest *member = connect_peer(co, address_v6(1, 1), &fd, greeting);
	struct guest *other = connect_from(co, 1, &fd, greeting);
	for (unsigned i = 0; i < 1000; i++) {
		connect_peer(co, same ? address_v6(1, 9) : address_v6(2, (uint8_t)i), &fd, greeting);
		close(fd);
		check(is_here(member, address_v6(1, 1)) && is_here(other, address(1)));
	}
	// When all have gone, none is counted any more.
	guests_close(&co->guests, &co->guests.unproved, CLOSE_ASIDE);
	for (unsigned i = 0; i < SENDER_BUCKETS; i++) {
		check(!co->guests.senders.lists[i]);
	}
	check(co->guests.n_unproved == 0);
}

/** Members and others do not take places from each other. */
static void test_apart(const struct roll_call *call) {
	struct roll_end end = {0};
	struct coordinator *co = open_coordinator(call, &end);
	unsigned char greeting[GREETING_BYTES];
	struct line members[12];
	struct guest *guests[12];
	int fd;
	for (unsigned i = 0; i < 2; i++) {
		guests[i] = arrive(co, &members[i]);
		say_hello(co, guests[i], &members[i], 1 + i, 100 + i);
	}
	for (unsigned i = 0; i < 100; i++) {
		connect_from(co, 9, &fd, greeting);
	}
	check(co->roll.present == 3 && co->guests.n_unproved == 4);
	// Those that do not say HELLO go first, and never one that has said it.
	for (unsigned i = 2; i < 12; i++) {
		guests[i] = arrive(co, &members[i]);
	}
	check(co->roll.present == 3 && co->guests.n_members == 10 && guests[2]->state != GUEST_PRESENT);
	co->guests.now += 5000;
	guests_expire(&co->guests);
	check(co->roll.present == 3 && co->guests.n_members == 2 && co->guests.n_unproved == 0);
}

/** Nothing can follow half a frame: who does not read what one member is told is gone, and comes again. */
static void test_half_a_frame(const struct roll_call *call) {
	struct roll_end end = {0};
	struct coordinator *co = open_coordinator(call, &end);
	static const char rest[4096];
	struct line member;
	struct guest *guest = arrive(co, &member);
	say_hello(co, guest, &member, 1, 100);
	check(co->roll.present == 2);
	while (write(guest->line.fd, rest, sizeof(rest)) > 0) {
	}
	line_send(&guest->line, FRAME_WAIT, rest, 100);
	coordinator_read(co, guest, false);
	check(co->roll.present == 1);
	close(member.fd);
}

/** Frames come without a pause: a few are read, and what is still there wakes us again. */
static void test_turns(const struct roll_call *call) {
	static const char facts[] = {FACTS_PROGRAM, 0, 0};
	const uint32_t many = 3 * LINE_TURN + 1;
	struct roll_end end = {0};
	struct coordinator *co = open_coordinator(call, &end);
	struct epoll_event event;
	struct line member;
	struct guest *guest = arrive(co, &member);
	say_hello(co, guest, &member, 1, 100);
	guest->asked = many;
	for (uint32_t i = 0; i < many; i++) {
		check(line_send(&member, FRAME_FACTS, facts, sizeof(facts)) == 0);
	}
	for (uint32_t left = many; left; left = guest->asked) {
		check(epoll_wait(co->guests.epoll, &event, 1, 0) == 1 && event.data.ptr == guest);
		coordinator_read(co, guest, false);
		checkf(guest->asked == (left > LINE_TURN ? left - LINE_TURN : 0), "%u left", guest->asked);
	}
	check(guest->state == GUEST_PRESENT && epoll_wait(co->guests.epoll, &event, 1, 0) == 0);
}

/** A member that says BYE does not wait for GO: it is not here any more, also while its connection is open. */
static void test_bye(const struct roll_call *call) {
	struct roll_end end = {0};
	struct coordinator *co = open_coordinator(call, &end);
	for (unsigned why = BYE_SIGNAL; why <= BYE_DEADLINE; why++) {
		unsigned char payload[HELLO_MAX];
		struct line member;
		struct guest *guest = arrive(co, &member);
		say_hello(co, guest, &member, 1, 100 + why);
		check(co->roll.present == 2);
		check(line_send(&member, FRAME_BYE, payload, bye_encode((enum bye_why)why, payload)) == 0);
		coordinator_read(co, guest, false);
		check(co->roll.present == 1 && guest->state == GUEST_FREE);
		close(member.fd);
	}
}

/** What a HELLO says of its member is known with it: nobody starts, and this and later members are told at once. */
static void test_unable(const struct roll_call *call) {
	static const enum roll_result results[] = {
		[ABLE_NOT] = ROLL_ERROR, [ABLE_ASKED_TO_END] = ROLL_ASKED_TO_END};
	for (enum able able = ABLE_NOT; able <= ABLE_ASKED_TO_END; able++) {
		struct roll_end end = {0};
		struct coordinator *co = open_coordinator(call, &end);
		unsigned char frame[FRAME_MAX];
		struct line members[2];
		struct frame no;
		for (unsigned i = 0; i < 2; i++) {
			struct guest *guest = arrive(co, &members[i]);
			unable = i == 0 ? able : ABLE;
			say_hello(co, guest, &members[i], 1 + i, 100);
			check(co->roll.state == COORDINATOR_REFUSING && end.result == results[able]);
			check(line_take(&members[i], frame, sizeof(frame), false, &no) == 0 &&
			      no.type == FRAME_NO);
			close(members[i].fd);
		}
		check_part(end.error.text, "n1 (rank 1) ", "who cannot start");
		check_part(end.error.text, ": no legs; nothing was started", "and why");
		unable = ABLE;
	}
}

/** A rank that the job does not have, and more starts than its --max-restarts allows: nothing is kept of such a HELLO. */
static void test_liars(const struct roll_call *call) {
	struct roll_end end = {0};
	struct coordinator *co = open_coordinator(call, &end);
	struct line member;
	struct guest *guest = arrive(co, &member);
	say_hello(co, guest, &member, SIZE, 100);
	check(guest->state == GUEST_FREE && co->roll.present == 1);
	guest = arrive(co, &member);
	n_starts = 1;
	say_hello(co, guest, &member, 1, 100);
	n_starts = 0;
	check(guest->state == GUEST_FREE && co->roll.present == 1 && !co->guests.known.first);
}

/** Somebody says the coordinator's own rank: that is told, and nobody is counted. */
static void test_own_rank(const struct roll_call *call) {
	struct roll_end end = {0};
	struct coordinator *co = open_coordinator(call, &end);
	struct line member;
	struct guest *guest = arrive(co, &member);
	say_hello(co, guest, &member, 0, 100);
	check(co->roll.state == COORDINATOR_FAILED && end.result == ROLL_DUPLICATE);
	check_part(end.error.text, "two nodes say that they are rank 0: n0 (coordinator) and n1 (10.0.0.1)",
		   "who");
	check(co->roll.present == 1 && !co->roll.seats[0].guest);
	close(member.fd);
	coordinator_read(co, guest, true);
	check(guest->state == GUEST_FREE && co->roll.present == 1);
}

/** All are here, something has changed meanwhile, and the port cannot be listened on again: all are told. */
static void test_port_lost(const struct roll_call *call) {
	struct roll_end end = {0};
	struct coordinator *co = open_coordinator(call, &end);
	struct line member;
	struct guest *guest = arrive(co, &member);
	say_hello(co, guest, &member, 1, 100);
	end.result = ROLL_PORT;
	err_set(&end.error, EADDRINUSE, "it is taken");
	coordinator_handle(co, &(struct coordinator_event){.what = COORDINATOR_PORT_LOST});
	check(co->roll.state == COORDINATOR_FAILED && guest->refused && end.result == ROLL_PORT);
	check(coordinator_until(&co->roll, 0) == 1000 && !co->done);
	close(member.fd);
	coordinator_read(co, guest, true);
	coordinator_handle(co, &(struct coordinator_event){.what = COORDINATOR_DUE});
	check(co->done);
}

/** The time is over, and some are absent: with a member here, it is told first; else it is over at once. */
static void test_absent(const struct roll_call *call, bool here) {
	struct roll_end end = {0};
	struct coordinator *co = open_coordinator(call, &end);
	coordinator_begin(&co->roll, 0, 100);
	struct line member = {.fd = -1};
	if (here) {
		say_hello(co, arrive(co, &member), &member, 1, 100);
	}
	co->guests.now = 100;
	coordinator_handle(co, &(struct coordinator_event){.what = COORDINATOR_DUE});
	check(co->roll.state == COORDINATOR_FAILED && end.result == ROLL_ABSENT && end.took_ms == 100);
	check(co->done == !here);
	if (here) {
		check(coordinator_until(&co->roll, 100) == 1100);
		close(member.fd);
	}
}

/** One process comes again and again in place of another: the loser is told, and that takes no memory. */
static void test_replaced(const struct roll_call *call) {
	struct roll_end end = {0};
	struct roll_call again = *call;
	again.max_restarts = 5;
	struct coordinator *co = open_coordinator(&again, &end);
	struct arena before = {0};
	struct line old, member;
	struct guest *guest = arrive(co, &old);
	say_hello(co, guest, &old, 1, 100);
	n_starts = 3;
	for (unsigned i = 0; i < 1000; i++) {
		guest = arrive(co, &member);
		say_hello(co, guest, &member, 1, 200 + i);
		check(guest->state == GUEST_FREE && co->roll.present == 2);
		close(member.fd);
		before = i == 0 ? *co->call->arena : before;
	}
	n_starts = 0;
	check(co->call->arena->next == before.next && co->call->arena->chunks == before.chunks);
}

int main(void) {
	static struct cluster cluster;
	static struct facts facts;
	arena = fixture_arena();
	struct roll_call call = {.arena = &arena,
				 .cluster = &cluster,
				 .size = SIZE,
				 .noun = "nodes",
				 .node = "n0",
				 .master = "n0",
				 .facts = &facts,
				 .say = be_silent};
	key_of_job(STR(""), "test", &call.key);
	test_duplicate(&call);
	test_late_facts(&call);
	test_forgotten_question(&call);
	test_memory(&call);
	test_pieces(&call);
	test_restarts(&call);
	test_wrong_proof(&call);
	test_places(&call);
	test_network(&call, false);
	test_network(&call, true);
	test_apart(&call);
	test_half_a_frame(&call);
	test_turns(&call);
	test_bye(&call);
	test_unable(&call);
	test_liars(&call);
	test_own_rank(&call);
	test_port_lost(&call);
	test_absent(&call, false);
	test_absent(&call, true);
	test_replaced(&call);
	return check_done();
}
