// SPDX-License-Identifier: Apache-2.0

/**
 * The coordinator's connections: a few guests send what the input says, in pieces, or in frames that
 * are sealed as a member's. The counts of the coordinator must stay right.
 */

#include "rollcall/coordinator.h"

#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define SIZE   3
#define GUESTS 4

static void be_silent(void *context, enum roll_level level, const char *text) {
	(void)context, (void)level, (void)text;
}

static uint32_t count(const struct guest_list *list) {
	uint32_t n = 0;
	for (const struct guest *guest = list->first; guest; guest = guest->next) {
		HOLDS(guest->next ? guest->next->previous == guest : list->last == guest);
		n++;
	}
	return n;
}

static void check_counts(const struct coordinator *co) {
	uint32_t seated = 0;
	for (uint32_t rank = 0; rank < SIZE; rank++) {
		seated += co->roll.seats[rank].guest != NULL;
	}
	HOLDS(co->roll.present == 1 + seated);
	HOLDS(co->guests.n_members == count(&co->guests.proved) + count(&co->guests.known) &&
	      seated <= count(&co->guests.known));
	HOLDS(co->guests.n_unproved == count(&co->guests.unproved) &&
	      co->guests.n_unproved <= co->guests.max_unproved);
	HOLDS(co->guests.n_members <= co->guests.max_members && co->guests.n_strangers <= STRANGERS_MAX);
}

/** The other end of a guest. */
struct other {
	struct line line;
	unsigned char greeting[GREETING_BYTES];
	bool proved;
};

/** A guest, from an address of its own or from that of all others. */
static struct guest *arrive(struct coordinator *co, struct other *other, unsigned from) {
	int fds[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) < 0) {
		abort();
	}
	struct address peer = {.v4 = {.sin_family = AF_INET, .sin_addr.s_addr = 0x100007f + (from << 24)},
			       .len = sizeof(peer.v4)};
	struct guest *guest = guest_arrive(&co->guests, fds[0], &peer);
	*other = (struct other){.line.fd = fds[1]};
	HOLDS(read(fds[1], other->greeting, GREETING_BYTES) == GREETING_BYTES);
	return guest;
}

/** Prove that we know the key. The answer is the only one that a guest gets before HELLO. */
static void prove(struct coordinator *co, struct guest *guest, struct other *other) {
	unsigned char meet[MEET_BYTES] = {0}, bytes[HELLO_MAX];
	struct frame frame;
	key_proof(&co->call->key, other->greeting, meet, meet + NONCE_BYTES);
	line_begin(&other->line, other->line.fd, 'm', &co->call->key, other->greeting, meet);
	if (send(other->line.fd, meet, sizeof(meet), MSG_NOSIGNAL) != sizeof(meet)) {
		return;
	}
	coordinator_read(co, guest, false);
	if (guest->state == GUEST_PROVED) {
		HOLDS(line_take(&other->line, bytes, sizeof(bytes), false, &frame) == 0);
		HOLDS(frame.type == FRAME_PROOF);
	}
	other->proved = true;
}

/** Send the @n bytes as a sealed frame, whose type is the first. */
static void send_frame(struct line *member, const uint8_t *data, size_t n) {
	if (n) {
		line_send(member, data[0], data + 1, n - 1);
	}
}

/**
 * Each piece: a byte whose low bits choose the guest, the next bits what happens, then a length and
 * as many bytes.
 */
static void play(struct coordinator *co, const uint8_t *data, size_t size) {
	struct guest *guests[GUESTS] = {0};
	struct other others[GUESTS];
	while (size >= 2) {
		unsigned who = data[0] % GUESTS, how = data[0] / GUESTS % 4;
		size_t n = data[1] < size - 2 ? data[1] : size - 2;
		if (!guests[who] || guests[who]->state == GUEST_FREE) {
			if (guests[who]) {
				close(others[who].line.fd);
			}
			guests[who] = arrive(co, &others[who], data[0] / 16);
		}
		struct other *other = &others[who];
		if (how == 3) {
			shutdown(other->line.fd, SHUT_WR);
		} else if (how == 2) {
			if (!other->proved) {
				prove(co, guests[who], other);
			}
			send_frame(&other->line, data + 2, n);
		} else {
			(void)!send(other->line.fd, data + 2, n, MSG_NOSIGNAL);
		}
		coordinator_read(co, guests[who], how == 3);
		check_counts(co);
		// What ends a call ends no input.
		co->roll.state = COORDINATOR_CALLING;
		data += 2 + n;
		size -= 2 + n;
	}
	for (unsigned i = 0; i < GUESTS; i++) {
		if (guests[i]) {
			guest_close(&co->guests, guests[i], CLOSE_DONE);
			close(others[i].line.fd);
		}
	}
	check_counts(co);
	HOLDS(co->guests.n_members == 0 && co->guests.n_unproved == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static struct cluster cluster;
	static struct facts facts;
	struct arena arena = fuzz_arena();
	struct roll_call call = {.arena = &arena,
				 .cluster = &cluster,
				 .size = SIZE,
				 .noun = "nodes",
				 .facts = &facts,
				 .say = be_silent};
	struct roll_end end = {0};
	key_of_job(STR(""), "fuzz", &call.key);
	struct coordinator *co = arena_alloc(&arena, sizeof(*co));
	coordinator_init(co, &call, &end);
	co->guests.max_unproved = co->guests.max_members = GUESTS;
	co->guests.epoll = epoll_create1(EPOLL_CLOEXEC);
	play(co, data, size < 4096 ? size : 4096);
	close(co->guests.epoll);
	arena_done(&co->roll.agree.scratch);
	arena_done(&co->guests.pool);
	arena_done(&arena);
	return 0;
}
