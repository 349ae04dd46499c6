// SPDX-License-Identifier: Apache-2.0

/** The coordinator's connections: who comes, what they say, who goes. */

#include "rollcall/coordinator.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

/** A connection has this long for its HELLO. */
#define HELLO_MS 5000

/** How long the start is held if another host took a rank. */
#define HOLD_MS 1000

/** How often somebody comes without a word before it is worth a warning. */
#define SILENT_TIMES 3

static void list_add(struct guest_list *list, struct guest *guest) {
	guest->next = NULL;
	guest->previous = list->last;
	*(list->last ? &list->last->next : &list->first) = guest;
	list->last = guest;
}

static void list_remove(struct guest_list *list, struct guest *guest) {
	*(guest->previous ? &guest->previous->next : &list->first) = guest->next;
	*(guest->next ? &guest->next->previous : &list->last) = guest->previous;
}

struct str guest_name(const struct guest *guest) {
	return guest->host.len ? guest->host : guest->node;
}

void guest_is_deaf(struct coordinator *co, const struct guest *guest) {
	if (co->n_deaf < WAIT_NAMES) {
		co->deaf[co->n_deaf] = guest_name(guest);
	}
	co->n_deaf++;
}

/** Take the part of a frame away from @guest. Long ones are given up: few are asked for facts. */
static void drop_part(struct coordinator *co, struct guest *guest) {
	if (guest->part) {
		if (guest->part_room == HELLO_MAX) {
			memcpy(guest->part, &co->free_part, sizeof(co->free_part));
			co->free_part = guest->part;
		}
		co->n_parts--;
		guest->part = NULL;
		guest->part_len = 0;
	}
}

/** Keep the @n bytes until the rest comes. Returns 0; -ENOBUFS if too many do the same. */
static int keep_part(struct coordinator *co, struct guest *guest, const unsigned char *bytes, size_t n) {
	size_t room = guest->asked ? FRAME_MAX : HELLO_MAX;
	if (guest->part && guest->part_room < room) {
		drop_part(co, guest);
	}
	if (!guest->part) {
		if (co->n_parts == PARTS_MAX) {
			return -ENOBUFS;
		}
		co->n_parts++;
		guest->part_room = (uint32_t)room;
		guest->part = room == HELLO_MAX ? co->free_part : NULL;
		if (guest->part) {
			memcpy(&co->free_part, guest->part, sizeof(co->free_part));
		} else {
			guest->part = arena_alloc(co->arena, room);
		}
	}
	memcpy(guest->part, bytes, n);
	guest->part_len = (uint32_t)n;
	return 0;
}

static void leave_seat(struct coordinator *co, struct guest *guest) {
	struct seat *seat = &co->seats[guest->rank];
	if (seat->guest == guest) {
		seat->guest = NULL;
		seat->gone = clock_now_ms();
		co->present--;
		co->changes++;
	}
}

void guest_close(struct coordinator *co, struct guest *guest, bool reset) {
	switch (guest->state) {
	case GUEST_FREE:
		return;
	case GUEST_SILENT:
		list_remove(&co->silent, guest);
		break;
	case GUEST_BEYOND:
		list_remove(&co->beyond, guest);
		break;
	case GUEST_PRESENT:
		leave_seat(co, guest);
		break;
	}
	if (guest->state != GUEST_SILENT && guest->size != co->call->size) {
		co->others--;
	}
	drop_part(co, guest);
	guest->state = GUEST_FREE;
	guest->next = co->free;
	co->free = guest;
	co->n_guests--;
	if (co->lookups.fd >= 0) {
		// Before Linux 5.9 its child has the connection as well, which would wake us for ever.
		epoll_ctl(co->epoll, EPOLL_CTL_DEL, guest->line.fd, NULL);
	}
	if (reset) {
		stream_reset(guest->line.fd);
	} else {
		close(guest->line.fd);
	}
}

static struct stranger *find_stranger(struct coordinator *co, const struct address *address) {
	char text[ADDRESS_TEXT], other[ADDRESS_TEXT];
	address_text(address, text);
	for (uint32_t i = 0; i < co->end->n_strangers; i++) {
		address_text(&co->strangers[i].address, other);
		if (strcmp(text, other) == 0) {
			return &co->strangers[i];
		}
	}
	if (co->end->n_strangers == STRANGERS_MAX) {
		return NULL;
	}
	struct stranger *s = &co->strangers[co->end->n_strangers++];
	*s = (struct stranger){.address = *address};
	return s;
}

void stranger_note(struct coordinator *co, const struct address *address, int as) {
	struct stranger *s = find_stranger(co, address);
	if (!s) {
		return;
	}
	bool first_torch = as == STRANGER_TORCH && s->as != STRANGER_TORCH;
	s->times++;
	if (as > (int)s->as || s->times == 1) {
		s->as = as;
	}
	char text[ADDRESS_TEXT];
	address_text(address, text);
	if (first_torch) {
		co->call->say(co->call->context, ROLL_WARNING,
			      arena_format(co->arena,
					   "roll call: %s speaks to port %u as PyTorch does: it was started "
					   "without a roll call",
					   text, co->port));
	} else if (s->as == STRANGER_SILENT && s->times == SILENT_TIMES) {
		co->call->say(co->call->context, ROLL_WARNING,
			      arena_format(co->arena,
					   "roll call: %s came and left without a word, %u times: another "
					   "secret, or another job?",
					   text, s->times));
	}
}

/** Close a guest that is no member. */
static void turn_away(struct coordinator *co, struct guest *guest, int as) {
	stranger_note(co, &guest->peer, as);
	guest_close(co, guest, true);
}

uint64_t guests_expire(struct coordinator *co, uint64_t now) {
	while (co->silent.first && now >= co->silent.first->since + HELLO_MS) {
		turn_away(co, co->silent.first, STRANGER_SILENT);
	}
	return co->silent.first ? co->silent.first->since + HELLO_MS : UINT64_MAX;
}

static void take_nonce(struct coordinator *co, unsigned char out[NONCE_BYTES]) {
	if (co->n_nonces == 0) {
		// A short read cannot be: the pool is initialised by now, and no signal is caught.
		while (getrandom(co->nonces, sizeof(co->nonces), 0) != sizeof(co->nonces)) {
		}
		co->n_nonces = NONCES;
	}
	memcpy(out, co->nonces[--co->n_nonces], NONCE_BYTES);
}

static void make_greeting(const struct coordinator *co, const struct guest *guest,
			  unsigned char out[GREETING_BYTES]) {
	struct greeting greeting = {
		.lowest = ROLL_VERSION,
		.highest = ROLL_VERSION,
		.flags = (uint16_t)((co->call->secret ? GREETING_SECRET : 0) |
				    (co->moved ? GREETING_MOVED : 0) |
				    (co->call->stay ? GREETING_TOGETHER : 0)),
		.seconds = guest->seconds,
	};
	memcpy(greeting.nonce, guest->nonce, NONCE_BYTES);
	memcpy(greeting.tag, co->tag, MAC_BYTES);
	greeting_encode(&greeting, out);
}

/** Make room for one more, at the cost of the one that has been silent for longest. */
static bool make_room(struct coordinator *co) {
	if (co->n_guests == co->max_guests && co->silent.first) {
		turn_away(co, co->silent.first, STRANGER_SILENT);
	}
	return co->n_guests < co->max_guests;
}

struct guest *guest_arrive(struct coordinator *co, int fd, const struct address *peer, uint64_t now) {
	struct guest *guest = co->free;
	if (guest) {
		co->free = guest->next;
	} else {
		guest = arena_alloc(co->arena, sizeof(*guest));
	}
	uint64_t left = (clock_left(now, co->watch.deadline) + 999) / 1000;
	*guest = (struct guest){
		.line = {.fd = fd},
		.state = GUEST_SILENT,
		.peer = *peer,
		.since = now,
		.seconds = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX,
	};
	co->n_guests++;
	list_add(&co->silent, guest);
	take_nonce(co, guest->nonce);
	unsigned char greeting[GREETING_BYTES];
	make_greeting(co, guest, greeting);
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = guest};
	if (epoll_ctl(co->epoll, EPOLL_CTL_ADD, fd, &event) < 0 ||
	    stream_send(fd, greeting, sizeof(greeting)) < 0) {
		guest_close(co, guest, true);
	}
	return guest;
}

void guests_accept(struct coordinator *co) {
	struct address peer;
	uint64_t now = clock_now_ms();
	int fd = 0;
	// Not for ever: others want to be read, too.
	for (int i = 0; i < NONCES && (fd >= 0 || fd == -ECONNABORTED); i++) {
		fd = listen_accept(co->listener, &peer);
		if (fd >= 0 && make_room(co)) {
			guest_arrive(co, fd, &peer, now);
		} else if (fd >= 0) {
			stream_reset(fd);
		}
	}
}

static struct str keep_text(struct coordinator *co, struct str text) {
	return (struct str){arena_text(co->arena, text.p, text.len), text.len};
}

/** Keep what a HELLO says. */
static void describe(struct coordinator *co, struct guest *guest, const struct hello *hello) {
	struct str listed = co->call->cluster->scope == SCOPE_NODE && hello->rank < co->call->size
				    ? roll_host(co->call, hello->rank)
				    : STR("");
	guest->rank = hello->rank;
	guest->size = hello->size;
	guest->incarnation = hello->incarnation;
	memcpy(guest->digest, hello->digest, sizeof(guest->digest));
	guest->clock_ms = (int64_t)(hello->clock_ms - roll_clock_ms());
	// Most say the name that the list has: it is not copied.
	guest->host = str_eq(hello->host, listed) ? listed : keep_text(co, hello->host);
	guest->node = str_eq(hello->node, guest->host) ? guest->host : keep_text(co, hello->node);
	co->others += hello->size != co->call->size;
}

/**
 * Give @guest its seat. The newer process wins: the older one was restarted, or is lost without the
 * kernel's notice. If the older one comes again, both are alive.
 */
static void take_seat(struct coordinator *co, struct guest *guest) {
	struct seat *seat = &co->seats[guest->rank];
	struct guest *older = seat->guest;
	if (guest->rank == co->call->rank || (older && seat->replaced == guest->incarnation)) {
		co->duplicate[0] = older ? older : guest;
		co->duplicate[1] = guest;
	} else if (older && older->incarnation != guest->incarnation) {
		seat->replaced = older->incarnation;
		co->hold = str_eq(older->node, guest->node) ? co->hold : guest->since + HOLD_MS;
	}
	if (older ? older->incarnation != guest->incarnation : seat->gone != 0) {
		co->end->restarts++;
	}
	if (older && !co->duplicate[0]) {
		guest_close(co, older, true);
	}
	co->present += !seat->guest;
	co->changes++;
	seat->guest = guest;
	co->end->last = guest->rank;
	co->end->last_ms = clock_now_ms() - co->watch.started;
}

static int take_hello(struct coordinator *co, struct guest *guest, const unsigned char *bytes, size_t n) {
	unsigned char greeting[GREETING_BYTES];
	struct frame frame;
	struct hello hello;
	if (n < FRAME_MIN + NONCE_BYTES) {
		return -EPROTO;
	}
	make_greeting(co, guest, greeting);
	line_begin(&guest->line, guest->line.fd, 'd', &co->call->key, greeting,
		   bytes + FRAME_MIN - MAC_BYTES);
	if (line_receive(&guest->line, bytes, n, &frame) < 0 || frame.type != FRAME_HELLO ||
	    hello_decode(frame.payload, &hello) < 0) {
		return -EPROTO;
	}
	describe(co, guest, &hello);
	list_remove(&co->silent, guest);
	guest->since = clock_now_ms();
	if (guest->rank < co->call->size) {
		guest->state = GUEST_PRESENT;
		take_seat(co, guest);
		if ((uint64_t)hello.left_ms + DEADLINE_MORE_MS < guest->seconds * (uint64_t)1000) {
			// It would give up before us.
			news_send(co, guest, guest->since);
		}
	} else {
		guest->state = GUEST_BEYOND;
		list_add(&co->beyond, guest);
	}
	return 0;
}

/** Take one whole frame. Returns 0; a negative errno: the guest has to go. */
static int take_frame(struct coordinator *co, struct guest *guest, const unsigned char *bytes, size_t n) {
	struct frame frame;
	if (guest->state == GUEST_SILENT) {
		return take_hello(co, guest, bytes, n);
	}
	int r = line_receive(&guest->line, bytes, n, &frame);
	if (r < 0) {
		return r;
	}
	if (frame.type == FRAME_FACTS && guest->asked) {
		guest->asked--;
		return agree_take(co, guest, frame.payload);
	}
	return frame.type == FRAME_BYE ? 0 : -EPROTO;
}

/** Take all frames in the @n bytes, and keep the rest. Returns 0; a negative errno. */
static int take_bytes(struct coordinator *co, struct guest *guest, const unsigned char *bytes, size_t n) {
	while (n) {
		int length = guest->state == GUEST_SILENT && torch_like(bytes, n) >= 0
				     ? 0
				     : frame_length(bytes, n, guest->asked ? FRAME_MAX : HELLO_MAX);
		if (length < 0) {
			return length;
		}
		if (length == 0 || (size_t)length > n) {
			return keep_part(co, guest, bytes, n);
		}
		int r = take_frame(co, guest, bytes, (size_t)length);
		if (r < 0 || guest->state == GUEST_FREE) {
			return r;
		}
		bytes += length;
		n -= (size_t)length;
	}
	drop_part(co, guest);
	return 0;
}

void guest_read(struct coordinator *co, struct guest *guest) {
	unsigned char bytes[FRAME_MAX];
	if (guest->state == GUEST_FREE) {
		return;
	}
	size_t have = guest->part_len;
	if (have) {
		memcpy(bytes, guest->part, have);
	}
	size_t room = guest->asked ? FRAME_MAX : HELLO_MAX;
	ssize_t n = read(guest->line.fd, bytes + have, room - have);
	if (n < 0 && errno == EAGAIN) {
		return;
	}
	bool silent = guest->state == GUEST_SILENT;
	if (n <= 0) {
		if (n < 0 && co->released) {
			guest_is_deaf(co, guest);
		}
		if (silent) {
			stranger_note(co, &guest->peer, have ? STRANGER_OTHER : STRANGER_SILENT);
		}
		guest_close(co, guest, false);
		return;
	}
	have += (size_t)n;
	bool torch = silent && torch_like(bytes, have) > 0;
	if (torch || take_bytes(co, guest, bytes, have) < 0) {
		turn_away(co, guest, torch ? STRANGER_TORCH : STRANGER_OTHER);
	}
}

/** Send to @guest. One that does not read its few bytes is as good as gone. */
static void send_or_close(struct coordinator *co, struct guest *guest, enum frame_type type,
			  const void *payload, size_t n) {
	if (guest && line_send(&guest->line, type, payload, n) < 0) {
		if (type == FRAME_GO) {
			guest_is_deaf(co, guest);
		}
		guest_close(co, guest, true);
	}
}

void guests_send(struct coordinator *co, enum frame_type type, const void *payload, size_t n) {
	for (uint32_t rank = 0; rank < co->call->size; rank++) {
		send_or_close(co, co->seats[rank].guest, type, payload, n);
	}
	for (struct guest *guest = co->beyond.first, *next; guest; guest = next) {
		next = guest->next;
		send_or_close(co, guest, type, payload, n);
	}
}
