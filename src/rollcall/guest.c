// SPDX-License-Identifier: Apache-2.0

/** The coordinator's connections: who comes, what they say, who goes. */

#include "rollcall/coordinator.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

/** A connection has this long for its HELLO. */
#define HELLO_MS 5000

/** The longest text in a HELLO: its length is a byte. */
#define TEXT_MAX 255

/** How long the start is held if another host took a rank. */
#define HOLD_MS 1000

/** How long nobody is accepted if that fails. */
#define PAUSE_MS 20

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
	if (co->n_deaf++ < WAIT_NAMES) {
		buf_puts(&co->deaf, co->deaf.len ? ", " : "");
		buf_put(&co->deaf, guest_name(guest));
	}
}

/** Take the part of a frame away from @guest. */
static void drop_part(struct coordinator *co, struct guest *guest) {
	if (guest->part) {
		co->parts[--co->n_parts] = guest->part;
		guest->part = NULL;
		guest->part_len = 0;
	}
}

/** Keep the @n bytes until the rest comes. Returns 0; -ENOBUFS if too many do the same. */
static int keep_part(struct coordinator *co, struct guest *guest, const unsigned char *bytes, size_t n) {
	if (!guest->part) {
		if (co->n_parts == PARTS_MAX) {
			return -ENOBUFS;
		}
		guest->part = co->parts[co->n_parts++];
		guest->part = guest->part ? guest->part : arena_alloc(co->arena, FRAME_MAX);
	}
	memcpy(guest->part, bytes, n);
	guest->part_len = (uint32_t)n;
	return 0;
}

static void leave_seat(struct coordinator *co, struct guest *guest) {
	struct seat *seat = &co->seats[guest->rank];
	if (guest->state == GUEST_PRESENT && seat->guest == guest) {
		seat->guest = NULL;
		seat->gone = co->now;
		co->present--;
		co->changes++;
	}
}

void guest_close(struct coordinator *co, struct guest *guest, bool reset) {
	if (guest->state == GUEST_FREE) {
		return;
	}
	if (guest->state == GUEST_SILENT) {
		list_remove(&co->silent, guest);
	} else {
		list_remove(&co->known, guest);
		leave_seat(co, guest);
		co->others -= guest->size != co->size;
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

/** The stranger at @address, whose text is @text: perhaps a new one; NULL if there are too many. */
static struct stranger *find_stranger(struct coordinator *co, const struct address *address,
				      const char *text) {
	char other[ADDRESS_TEXT];
	struct stranger *s = co->strangers;
	for (; s < co->strangers + co->end->n_strangers; s++) {
		address_text(&s->address, other);
		if (strcmp(text, other) == 0) {
			return s;
		}
	}
	if (co->end->n_strangers == STRANGERS_MAX) {
		return NULL;
	}
	co->end->n_strangers++;
	*s = (struct stranger){.address = *address};
	return s;
}

void stranger_note(struct coordinator *co, const struct address *address, int as) {
	char text[ADDRESS_TEXT];
	address_text(address, text);
	struct stranger *s = find_stranger(co, address, text);
	if (!s) {
		return;
	}
	bool first_torch = as == STRANGER_TORCH && s->as != STRANGER_TORCH;
	s->times++;
	s->as = as > (int)s->as ? as : (int)s->as;
	if (first_torch) {
		roll_say(
			co->call, ROLL_WARNING,
			"roll call: %s speaks to port %u as PyTorch does: it was started without a roll call",
			text, co->port);
	} else if (s->as == STRANGER_SILENT && s->times == SILENT_TIMES) {
		roll_say(co->call, ROLL_WARNING,
			 "roll call: %s came and left without a word, %u times: another secret, or another "
			 "job?",
			 text, s->times);
	}
}

/** Close a guest that is no member. */
static void turn_away(struct coordinator *co, struct guest *guest, int as) {
	stranger_note(co, &guest->peer, as);
	guest_close(co, guest, true);
}

uint64_t guests_expire(struct coordinator *co) {
	while (co->silent.first && co->now >= co->silent.first->since + HELLO_MS) {
		turn_away(co, co->silent.first, STRANGER_SILENT);
	}
	return co->silent.first ? co->silent.first->since + HELLO_MS : UINT64_MAX;
}

static const unsigned char *next_nonce(struct coordinator *co) {
	if (co->n_nonces == 0) {
		// A short read cannot be: the pool is initialised by now, and no signal is caught.
		while (getrandom(co->nonces, sizeof(co->nonces), 0) != sizeof(co->nonces)) {
		}
		co->n_nonces = NONCES;
	}
	return co->nonces[--co->n_nonces];
}

/** Make room for one more, at the cost of the one that has been silent for longest. */
static bool make_room(struct coordinator *co) {
	if (co->n_guests == co->max_guests && co->silent.first) {
		turn_away(co, co->silent.first, STRANGER_SILENT);
	}
	return co->n_guests < co->max_guests;
}

struct guest *guest_arrive(struct coordinator *co, int fd, const struct address *peer) {
	// Those that say one rank are told by name soon, also if they have gone meanwhile.
	struct guest *guest = co->duplicate[0] ? NULL : co->free;
	if (guest) {
		co->free = guest->next;
	} else {
		guest = arena_alloc(co->arena, sizeof(*guest));
		guest->rooms[0] = guest->rooms[1] = NULL;
	}
	memset(&guest->state, 0, sizeof(*guest) - offsetof(struct guest, state));
	guest->line.fd = fd;
	guest->state = GUEST_SILENT;
	guest->peer = *peer;
	guest->since = co->now;
	co->n_guests++;
	list_add(&co->silent, guest);
	uint64_t left = (clock_left(co->now, co->watch.deadline) + 999) / 1000;
	co->greeting.seconds = (uint32_t)clock_earlier(left, UINT32_MAX);
	memcpy(co->greeting.nonce, next_nonce(co), NONCE_BYTES);
	greeting_encode(&co->greeting, guest->greeting);
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = guest};
	if (epoll_ctl(co->epoll, EPOLL_CTL_ADD, fd, &event) < 0 ||
	    stream_send(fd, guest->greeting, GREETING_BYTES) < 0) {
		guest_close(co, guest, true);
	}
	return guest;
}

void guests_accept(struct coordinator *co) {
	struct address peer;
	int fd = 0;
	// Not for ever: others want to be read, too.
	for (int i = 0; i < NONCES && (fd >= 0 || fd == -ECONNABORTED); i++) {
		fd = listen_accept(co->listener, &peer);
		if (fd >= 0 && make_room(co)) {
			guest_arrive(co, fd, &peer);
		} else if (fd >= 0) {
			stream_reset(fd);
		}
	}
	if (fd < 0 && fd != -EAGAIN) {
		// No descriptors or no memory are left. Whoever waits would wake us at once, again and again.
		poll(NULL, 0, PAUSE_MS);
	}
}

/** Members come again and again: whoever gets this struct next uses its room, too. */
static struct str keep_text(struct coordinator *co, char **room, struct str text) {
	if (!*room) {
		*room = arena_alloc(co->arena, TEXT_MAX);
	}
	text.p = memcpy(*room, text.p, text.len);
	return text;
}

/** Keep what a HELLO says. */
static void describe(struct coordinator *co, struct guest *guest, const struct hello *hello) {
	struct str listed = co->call->cluster->scope == SCOPE_NODE && hello->rank < co->size
				    ? roll_host(co->call, hello->rank)
				    : STR("");
	guest->rank = hello->rank;
	guest->size = hello->size;
	guest->incarnation = hello->incarnation;
	memcpy(guest->digest, hello->digest, sizeof(guest->digest));
	guest->clock_ms = (int64_t)(hello->clock_ms - roll_clock_ms());
	// Most say the name that the list has: it is not copied.
	guest->host = str_eq(hello->host, listed) ? listed : keep_text(co, &guest->rooms[0], hello->host);
	guest->node =
		str_eq(hello->node, guest->host) ? guest->host : keep_text(co, &guest->rooms[1], hello->node);
	co->others += hello->size != co->size;
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
	co->end->last_ms = co->now - co->watch.started;
}

static int take_hello(struct coordinator *co, struct guest *guest, const unsigned char *bytes, size_t n) {
	struct frame frame;
	struct hello hello;
	if (n < FRAME_MIN + NONCE_BYTES) {
		return -EPROTO;
	}
	line_begin(&guest->line, guest->line.fd, 'd', &co->call->key, guest->greeting,
		   bytes + FRAME_MIN - MAC_BYTES);
	if (line_receive(&guest->line, bytes, n, &frame) < 0 || frame.type != FRAME_HELLO ||
	    hello_decode(frame.payload, &hello) < 0) {
		return -EPROTO;
	}
	describe(co, guest, &hello);
	list_remove(&co->silent, guest);
	list_add(&co->known, guest);
	guest->since = co->now;
	guest->state = guest->rank < co->size ? GUEST_PRESENT : GUEST_BEYOND;
	if (guest->state == GUEST_PRESENT) {
		take_seat(co, guest);
		uint64_t left = clock_earlier(clock_left(co->now, co->watch.deadline), UINT32_MAX);
		if ((uint64_t)hello.left_ms + DEADLINE_MORE_MS < left) {
			// It would give up before us.
			news_send(co, guest);
		}
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
	if (r == 0 && frame.type == FRAME_FACTS && guest->asked) {
		guest->asked--;
		agree_take(co, guest, frame.payload);
		return 0;
	}
	return r == 0 && frame.type == FRAME_BYE ? 0 : -EPROTO;
}

/** Take all frames in the @n bytes, and keep the rest. Returns 0; a negative errno. */
static int take_bytes(struct coordinator *co, struct guest *guest, const unsigned char *bytes, size_t n) {
	int r = 0;
	while (n && r == 0 && guest->state != GUEST_FREE) {
		int length = frame_length(bytes, n, guest->asked ? FRAME_MAX : HELLO_MAX);
		if (length < 0) {
			return length;
		}
		if (length == 0 || (size_t)length > n) {
			return keep_part(co, guest, bytes, n);
		}
		r = take_frame(co, guest, bytes, (size_t)length);
		bytes += length;
		n -= (size_t)length;
	}
	drop_part(co, guest);
	return r;
}

/** The connection has ended, with a reset if @reset. */
static void see_off(struct coordinator *co, struct guest *guest, bool reset) {
	if (reset && co->released) {
		guest_is_deaf(co, guest);
	}
	if (guest->state == GUEST_SILENT) {
		stranger_note(co, &guest->peer, guest->part ? STRANGER_OTHER : STRANGER_SILENT);
	}
	guest_close(co, guest, false);
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
	ssize_t n = read(guest->line.fd, bytes + have, sizeof(bytes) - have);
	if (n < 0 && errno == EAGAIN) {
		return;
	}
	if (n <= 0) {
		see_off(co, guest, n < 0);
		return;
	}
	have += (size_t)n;
	int torch = guest->state == GUEST_SILENT ? torch_like(bytes, have) : -1;
	int r = torch > 0 ? -EPROTO : (torch ? take_bytes : keep_part)(co, guest, bytes, have);
	if (r < 0) {
		turn_away(co, guest, torch > 0 ? STRANGER_TORCH : STRANGER_OTHER);
	}
}

void guests_send(struct coordinator *co, enum frame_type type, const void *payload, size_t n) {
	for (struct guest *guest = co->known.first, *next; guest; guest = next) {
		next = guest->next;
		// One that does not read its few bytes is as good as gone.
		if (line_send(&guest->line, type, payload, n) < 0) {
			if (type == FRAME_GO) {
				guest_is_deaf(co, guest);
			}
			guest_close(co, guest, true);
		}
	}
}
