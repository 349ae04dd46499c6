// SPDX-License-Identifier: Apache-2.0

/**
 * The coordinator's connections: a few guests send what the input says, in pieces, or in frames that
 * are signed as a member's. The counts of the coordinator must stay right.
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
		seated += co->seats[rank].guest != NULL;
	}
	HOLDS(co->present == 1 + seated);
	HOLDS(co->n_guests == count(&co->silent) + count(&co->known) && seated <= count(&co->known));
	HOLDS(co->n_parts <= PARTS_MAX && co->end->n_strangers <= STRANGERS_MAX);
}

/** A guest, and the member at the other end. */
static struct guest *arrive(struct coordinator *co, struct line *member) {
	static const unsigned char nonce[NONCE_BYTES];
	unsigned char greeting[GREETING_BYTES];
	int fds[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) < 0) {
		abort();
	}
	struct address peer = {.v4 = {.sin_family = AF_INET, .sin_addr.s_addr = 0x100007f},
			       .len = sizeof(peer.v4)};
	struct guest *guest = guest_arrive(co, fds[0], &peer);
	HOLDS(read(fds[1], greeting, sizeof(greeting)) == sizeof(greeting));
	line_begin(member, fds[1], 'm', &co->call->key, greeting, nonce);
	return guest;
}

/** Send the @n bytes as a signed frame, whose type is the first. */
static void send_frame(struct line *member, const uint8_t *data, size_t n) {
	uint8_t payload[256] = {0};
	if (n) {
		memcpy(payload, data + 1, n - 1);
		if (data[0] == FRAME_HELLO) {
			memset(payload, 0, NONCE_BYTES);
		}
		line_send(member, data[0], payload, n - 1);
	}
}

/**
 * Each piece: a byte whose low bits choose the guest, the next bits what happens, then a length and
 * as many bytes.
 */
static void play(struct coordinator *co, const uint8_t *data, size_t size) {
	struct guest *guests[GUESTS] = {0};
	struct line members[GUESTS];
	while (size >= 2) {
		unsigned who = data[0] % GUESTS, how = data[0] / GUESTS % 4;
		size_t n = data[1] < size - 2 ? data[1] : size - 2;
		if (!guests[who] || guests[who]->state == GUEST_FREE) {
			if (guests[who]) {
				close(members[who].fd);
			}
			guests[who] = arrive(co, &members[who]);
		}
		if (how == 3) {
			shutdown(members[who].fd, SHUT_WR);
		} else if (how == 2) {
			send_frame(&members[who], data + 2, n);
		} else {
			(void)!send(members[who].fd, data + 2, n, MSG_NOSIGNAL);
		}
		guest_read(co, guests[who]);
		check_counts(co);
		data += 2 + n;
		size -= 2 + n;
	}
	for (unsigned i = 0; i < GUESTS; i++) {
		if (guests[i]) {
			guest_close(co, guests[i], false);
			close(members[i].fd);
		}
	}
	check_counts(co);
	HOLDS(co->n_guests == 0 && co->n_parts == 0);
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
	struct coordinator *co = arena_alloc(&arena, sizeof(*co));
	struct seat seats[SIZE] = {0};
	memset(co, 0, sizeof(*co));
	co->call = &call;
	co->end = &end;
	co->arena = &arena;
	co->size = SIZE;
	co->seats = seats;
	co->present = 1;
	co->max_guests = GUESTS;
	co->epoll = epoll_create1(EPOLL_CLOEXEC);
	play(co, data, size < 4096 ? size : 4096);
	close(co->epoll);
	arena_done(&arena);
	return 0;
}
