// SPDX-License-Identifier: Apache-2.0

/** The coordinator's connections: who comes, what they say, who goes. */

#include "rollcall/coordinator.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

/** A connection has this long for its proof, and then for its HELLO. */
#define PROOF_MS 5000
#define HELLO_MS 5000

/** The most connections that are accepted at once: others want to be read, too. */
#define ACCEPTS 256

/** The longest text in a HELLO: its length is a byte. */
#define TEXT_MAX 255

/** How long the start is held if another host took a rank. */
#define HOLD_MS 1000

/** Pause after accept() fails, in ms. */
#define PAUSE_MS 20

/** Silent connections before a warning. */
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

static void leave_seat(struct coordinator *co, struct guest *guest) {
	struct seat *seat = &co->seats[guest->rank];
	if (guest->state == GUEST_PRESENT && seat->guest == guest) {
		seat->guest = NULL;
		seat->gone = co->now;
		co->present--;
		co->changes++;
	}
}

static struct guest_list *list_of(struct coordinator *co, enum guest_state state) {
	return state == GUEST_UNPROVED ? &co->unproved : state == GUEST_PROVED ? &co->proved : &co->known;
}

static void leave_list(struct coordinator *co, struct guest *guest) {
	list_remove(list_of(co, guest->state), guest);
	if (guest->state == GUEST_UNPROVED) {
		place_leave(co, guest);
	} else {
		co->n_members--;
	}
}

/** Give @guest its state, and its place among those of that state. */
static void join_list(struct coordinator *co, struct guest *guest, enum guest_state state) {
	guest->state = state;
	guest->since = co->now;
	list_add(list_of(co, state), guest);
	if (state == GUEST_UNPROVED) {
		place_take(co, guest);
	} else {
		co->n_members++;
	}
}

void guest_close(struct coordinator *co, struct guest *guest, bool reset) {
	if (guest->state == GUEST_FREE) {
		return;
	}
	leave_list(co, guest);
	if (guest->state == GUEST_PRESENT || guest->state == GUEST_BEYOND) {
		leave_seat(co, guest);
		co->others -= guest->size != co->size;
	}
	guest->state = GUEST_FREE;
	guest->next = co->free;
	co->free = guest;
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

/** The stranger at @address: perhaps a new one; NULL if there are too many. */
static struct stranger *find_stranger(struct coordinator *co, const struct address *address) {
	struct stranger *s = co->strangers;
	for (; s < co->strangers + co->end->n_strangers; s++) {
		if (str_eq(address_bytes(&s->address), address_bytes(address))) {
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

/** Warn of @s, once for each thing that it may be. */
static void say_stranger(const struct coordinator *co, const struct stranger *s, bool changed) {
	char text[ADDRESS_TEXT];
	address_text(&s->address, text);
	if (changed && s->as == STRANGER_TORCH) {
		roll_say(
			co->call, ROLL_WARNING,
			"roll call: %s speaks to port %u as PyTorch does: it was started without a roll call",
			text, co->port);
	} else if (changed && s->as == STRANGER_KEY) {
		roll_say(co->call, ROLL_WARNING,
			 "roll call: %s calls with another secret, or for another job", text);
	} else if (s->as == STRANGER_SILENT && s->times == SILENT_TIMES) {
		roll_say(co->call, ROLL_WARNING, "roll call: %s came and left without a word, %u times", text,
			 s->times);
	}
}

void stranger_note(struct coordinator *co, const struct address *address, enum stranger_as as) {
	struct stranger *s = find_stranger(co, address);
	if (s) {
		bool changed = as > s->as;
		s->times++;
		s->as = changed ? as : s->as;
		say_stranger(co, s, changed);
	}
}

/** Close a guest that is no member. */
static void turn_away(struct coordinator *co, struct guest *guest, enum stranger_as as) {
	stranger_note(co, &guest->peer, as);
	guest_close(co, guest, true);
}

/** Close those at the head of a list that came before @ms ago. Returns when the next has to be. */
static uint64_t expire(struct coordinator *co, const struct guest_list *list, uint64_t ms) {
	while (list->first && co->now >= list->first->since + ms) {
		turn_away(co, list->first, STRANGER_SILENT);
	}
	return list->first ? list->first->since + ms : CLOCK_NEVER;
}

uint64_t guests_expire(struct coordinator *co) {
	uint64_t unproved = expire(co, &co->unproved, PROOF_MS);
	return clock_earlier(unproved, expire(co, &co->proved, HELLO_MS));
}

static struct guest *new_guest(struct coordinator *co) {
	// Those that say one rank are told by name soon, also if they have gone meanwhile.
	struct guest *guest = co->duplicate[0] ? NULL : co->free;
	if (!guest) {
		guest = arena_alloc(co->arena, sizeof(*guest));
		*guest = (struct guest){.rooms = {NULL, NULL}};
		return guest;
	}
	co->free = guest->next;
	*guest = (struct guest){.rooms = {guest->rooms[0], guest->rooms[1]}};
	return guest;
}

/** Write a greeting with a nonce of its own. Returns 0; -EIO if there are no random numbers. */
static int greet(struct coordinator *co, struct guest *guest) {
	uint64_t left = (clock_left(co->now, co->watch.deadline) + 999) / 1000;
	co->greeting.seconds = (uint32_t)clock_earlier(left, UINT32_MAX);
	if (getrandom(co->greeting.nonce, NONCE_BYTES, 0) != NONCE_BYTES) {
		return -EIO;
	}
	greeting_encode(&co->greeting, guest->greeting);
	return stream_send(guest->line.fd, guest->greeting, GREETING_BYTES);
}

struct guest *guest_arrive(struct coordinator *co, int fd, const struct address *peer) {
	if (co->n_unproved >= co->max_unproved) {
		turn_away(co, place_to_clear(co), STRANGER_SILENT);
	}
	struct guest *guest = new_guest(co);
	guest->line.fd = fd;
	guest->peer = *peer;
	join_list(co, guest, GUEST_UNPROVED);
	if (line_watch(fd, co->epoll, EPOLL_CTL_ADD, (epoll_data_t){guest}) < 0 || greet(co, guest) < 0) {
		guest_close(co, guest, true);
	}
	return guest;
}

void guests_accept(struct coordinator *co) {
	struct address peer;
	int fd = 0;
	for (int i = 0; i < ACCEPTS && (fd >= 0 || fd == -ECONNABORTED); i++) {
		fd = listen_accept(co->listener, &peer);
		if (fd >= 0) {
			guest_arrive(co, fd, &peer);
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
	guest->clock_ms = (int64_t)(hello->clock_ms - clock_wall_ms());
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
		co->mixed |= co->call->nameless && co->now < co->watch.started + NAMELESS_MS;
		seat->replaced = older->incarnation;
		if (!str_eq(older->node, guest->node)) {
			co->hold = guest->since + HOLD_MS;
		}
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

static int take_hello(struct coordinator *co, struct guest *guest, const struct frame *frame) {
	struct hello hello;
	if (frame->type != FRAME_HELLO || hello_decode(frame->payload, &hello) < 0) {
		return -EPROTO;
	}
	leave_list(co, guest);
	describe(co, guest, &hello);
	join_list(co, guest, hello.rank < co->size ? GUEST_PRESENT : GUEST_BEYOND);
	if (guest->state == GUEST_PRESENT) {
		take_seat(co, guest);
		uint64_t left = clock_earlier(clock_left(co->now, co->watch.deadline), UINT32_MAX);
		if (hello.left_ms < left) {
			// It may give up before us.
			news_send(co, guest);
		}
	}
	return 0;
}

/** A member leaves: perhaps it cannot start its program, and so nobody starts. It says so once. */
static int take_bye(struct coordinator *co, struct guest *guest, struct str payload) {
	struct bye bye;
	if (guest->said_bye || bye_decode(payload, &bye) < 0) {
		return -EPROTO;
	}
	guest->said_bye = true;
	if (bye.why != BYE_UNABLE) {
		return 0;
	}
	struct str name = guest_name(guest);
	if (co->refuse_at) {
		roll_say(co->call, ROLL_WARNING, "roll call: %.*s (rank %u) cannot start, either: %.*s",
			 (int)name.len, name.p, guest->rank, (int)bye.text.len, bye.text.p);
	} else {
		err_set(&co->end->error, ENOEXEC,
			"roll call: %.*s (rank %u) cannot start: %.*s; nothing was started", (int)name.len,
			name.p, guest->rank, (int)bye.text.len, bye.text.p);
		refusal_begin(co, ROLL_ERROR);
	}
	return 0;
}

/** Take one whole frame. Returns 0; a negative errno: the guest has to go. */
static int take_frame(struct coordinator *co, struct guest *guest, const struct frame *frame) {
	if (guest->state == GUEST_PROVED) {
		return take_hello(co, guest, frame);
	}
	if (frame->type == FRAME_FACTS && guest->asked) {
		guest->asked--;
		agree_take(co, guest, frame->payload);
		return 0;
	}
	return frame->type == FRAME_BYE ? take_bye(co, guest, frame->payload) : -EPROTO;
}

/** The connection has ended, with a reset if @reset. */
static void see_off(struct coordinator *co, struct guest *guest, bool reset) {
	if (reset && co->released) {
		guest_is_deaf(co, guest);
	}
	if (guest->state == GUEST_UNPROVED) {
		stranger_note(co, &guest->peer, STRANGER_SILENT);
	}
	guest_close(co, guest, false);
}

/** Make room for one more member, at the cost of one that has not said HELLO. It will come again. */
static bool make_room(struct coordinator *co) {
	if (co->n_members >= co->max_members && co->proved.first) {
		guest_close(co, co->proved.first, true);
	}
	return co->n_members < co->max_members;
}

/** The proof of @guest is right: prove ourselves. */
static void admit(struct coordinator *co, struct guest *guest, const unsigned char nonce[NONCE_BYTES]) {
	unsigned char payload[HELLO_MAX];
	if (!make_room(co)) {
		guest_close(co, guest, true);
		return;
	}
	line_begin(&guest->line, guest->line.fd, 'd', &co->call->key, guest->greeting, nonce);
	leave_list(co, guest);
	join_list(co, guest, GUEST_PROVED);
	if (line_send(&guest->line, FRAME_PROOF, payload, proof_encode(co->port, payload)) < 0) {
		guest_close(co, guest, true);
	}
}

/** What @bytes are, which are no right MEET: text, or as random as one with another key. */
static enum stranger_as unlike(const unsigned char bytes[MEET_BYTES]) {
	size_t plain = 0;
	while (plain < NONCE_BYTES && bytes[plain] < 0x7f) {
		plain++;
	}
	return plain == NONCE_BYTES ? STRANGER_OTHER : STRANGER_KEY;
}

/** Read MEET. Who has no right one gets no answer. */
static void read_meet(struct coordinator *co, struct guest *guest, bool over) {
	unsigned char bytes[MEET_BYTES], proof[TAG_BYTES];
	ssize_t n = stream_peek(guest->line.fd, bytes, sizeof(bytes));
	if (n == -EAGAIN || (n > 0 && n < MEET_BYTES && !over && torch_like(bytes, (size_t)n) <= 0)) {
		return;
	}
	if (n <= 0) {
		see_off(co, guest, n < 0);
		return;
	}
	if (torch_like(bytes, (size_t)n) > 0) {
		turn_away(co, guest, STRANGER_TORCH);
		return;
	}
	if (n < MEET_BYTES || read(guest->line.fd, bytes, sizeof(bytes)) != MEET_BYTES) {
		turn_away(co, guest, STRANGER_OTHER);
		return;
	}
	key_proof(&co->call->key, guest->greeting, bytes, proof);
	if (tag_equal(proof, bytes + NONCE_BYTES)) {
		admit(co, guest, bytes);
	} else {
		turn_away(co, guest, unlike(bytes));
	}
}

void guest_read(struct coordinator *co, struct guest *guest, bool over) {
	unsigned char bytes[FRAME_MAX];
	struct frame frame;
	if (guest->state == GUEST_UNPROVED) {
		read_meet(co, guest, over);
	}
	for (int i = 0; guest->state > GUEST_UNPROVED; i++) {
		if (i == LINE_TURN) {
			line_watch(guest->line.fd, co->epoll, EPOLL_CTL_MOD, (epoll_data_t){guest});
			return;
		}
		size_t max = guest->asked ? FRAME_MAX : HELLO_MAX;
		int r = line_take(&guest->line, bytes, max, over, &frame);
		if (r == -EAGAIN) {
			return;
		}
		r = r < 0 ? r : take_frame(co, guest, &frame);
		if (r == -EPROTO) {
			turn_away(co, guest, STRANGER_OTHER);
		} else if (r < 0) {
			see_off(co, guest, r != -ENODATA);
		}
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
