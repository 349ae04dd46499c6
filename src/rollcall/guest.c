// SPDX-License-Identifier: Apache-2.0

#include "rollcall/guest.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
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

static void guest_is_deaf(struct guests *g, const struct guest *guest) {
	if (g->n_deaf++ < WAIT_NAMES) {
		buf_puts(&g->deaf, g->deaf.len ? ", " : "");
		buf_put(&g->deaf, guest_name(guest));
	}
}

static void leave_seat(struct guests *g, struct guest *guest) {
	struct seat *seat = &g->seats[guest->rank];
	if (guest->state == GUEST_PRESENT && seat->guest == guest) {
		seat->guest = NULL;
		seat->gone = g->now;
		g->present--;
		g->changes++;
	}
}

static struct guest_list *list_of(struct guests *g, enum guest_state state) {
	return state == GUEST_UNPROVED ? &g->unproved : state == GUEST_PROVED ? &g->proved : &g->known;
}

static void leave_list(struct guests *g, struct guest *guest) {
	list_remove(list_of(g, guest->state), guest);
	if (guest->state == GUEST_UNPROVED) {
		unproved_leave(&g->senders, guest->sender);
		g->n_unproved--;
	} else {
		g->n_members--;
	}
}

/** Give @guest its state, and its place among those of that state. */
static void join_list(struct guests *g, struct guest *guest, enum guest_state state) {
	guest->state = state;
	guest->since = g->now;
	list_add(list_of(g, state), guest);
	if (state == GUEST_UNPROVED) {
		guest->sender = unproved_join(&g->senders, &g->pool, &guest->peer);
		g->n_unproved++;
	} else {
		g->n_members++;
	}
}

/** The stranger at @address: perhaps a new one; NULL if there are too many. */
static struct stranger *find_stranger(struct guests *g, const struct address *address) {
	struct stranger *s = g->strangers;
	for (; s < g->strangers + g->n_strangers; s++) {
		if (str_eq(address_bytes(&s->address), address_bytes(address))) {
			return s;
		}
	}
	if (g->n_strangers == STRANGERS_MAX) {
		return NULL;
	}
	g->n_strangers++;
	*s = (struct stranger){.address = *address};
	return s;
}

/** Warn of @s, once for each thing that it may be. */
static void say_stranger(const struct guests *g, const struct stranger *s, bool changed) {
	char text[ADDRESS_TEXT];
	address_text(&s->address, text);
	if (changed && s->as == STRANGER_TORCH) {
		roll_say(
			g->call, ROLL_WARNING,
			"roll call: %s speaks to port %u as PyTorch does: it was started without a roll call",
			text, g->port);
	} else if (changed && s->as == STRANGER_KEY) {
		roll_say(g->call, ROLL_WARNING, "roll call: %s calls with another secret, or for another job",
			 text);
	} else if (s->as == STRANGER_SILENT && s->times == SILENT_TIMES) {
		roll_say(g->call, ROLL_WARNING, "roll call: %s came and left without a word, %u times", text,
			 s->times);
	}
}

static void stranger_note(struct guests *g, const struct address *address, enum stranger_as as) {
	struct stranger *s = find_stranger(g, address);
	if (s) {
		bool changed = as > s->as;
		s->times++;
		s->as = changed ? as : s->as;
		say_stranger(g, s, changed);
	}
}

void guest_close(struct guests *g, struct guest *guest, unsigned parting) {
	if (guest->state == GUEST_FREE) {
		return;
	}
	if (g->released && !guest->heard && guest->state >= GUEST_PRESENT) {
		guest_is_deaf(g, guest);
	}
	if (parting >= PART_STRANGER || parting == PART_SILENT) {
		unsigned as = parting == PART_SILENT ? STRANGER_SILENT : parting - PART_STRANGER;
		stranger_note(g, &guest->peer, (enum stranger_as)as);
	}
	leave_list(g, guest);
	if (guest->state == GUEST_PRESENT || guest->state == GUEST_BEYOND) {
		leave_seat(g, guest);
		g->others -= guest->size != g->call->size;
	}
	guest->state = GUEST_FREE;
	guest->next = g->free;
	g->free = guest;
	if (g->looked->child.fd >= 0 || g->comparing->fd >= 0) {
		// Before Linux 5.9 its child has the connection as well, which would wake us for ever.
		epoll_ctl(g->epoll, EPOLL_CTL_DEL, guest->line.fd, NULL);
	}
	if (parting < PART_ASIDE) {
		close(guest->line.fd);
	} else {
		stream_reset(guest->line.fd);
	}
}

void guests_close(struct guests *g, const struct guest_list *list, enum parting parting) {
	while (list->first) {
		guest_close(g, list->first, parting);
	}
}

/** Close those at the head of a list that came before @ms ago. Returns when the next has to be. */
static uint64_t expire(struct guests *g, const struct guest_list *list, uint64_t ms) {
	while (list->first && g->now >= list->first->since + ms) {
		guest_close(g, list->first, PART_STRANGER + STRANGER_SILENT);
	}
	return list->first ? list->first->since + ms : CLOCK_NEVER;
}

uint64_t guests_expire(struct guests *g) {
	uint64_t unproved = expire(g, &g->unproved, PROOF_MS);
	return clock_earlier(unproved, expire(g, &g->proved, HELLO_MS));
}

/** Whether a listed host has @address, as far as hosts were looked up. */
static bool is_listed(const struct looked *looked, const struct address *address) {
	for (uint32_t i = 0; i < looked->n; i++) {
		const struct addresses *addresses = &looked->at[i].addresses;
		for (uint32_t k = 0; k < addresses->n; k++) {
			if (str_eq(address_bytes(&addresses->at[k]), address_bytes(address))) {
				return true;
			}
		}
	}
	return false;
}

/** Whether @a has to go rather than @b, which came earlier. */
static bool goes_first(const struct guests *g, const struct guest *a, const struct guest *b) {
	int more = unproved_compare(a->sender, b->sender);
	if (more) {
		return more > 0;
	}
	return is_listed(g->looked, &b->peer) && !is_listed(g->looked, &a->peer);
}

struct guest *guests_oldest(const struct guests *g) {
	struct guest *first = g->unproved.first;
	for (struct guest *guest = first; guest; guest = guest->next) {
		first = goes_first(g, guest, first) ? guest : first;
	}
	return first;
}

static struct guest *new_guest(struct guests *g) {
	// Those that say one rank are told by name soon, also if they have gone meanwhile.
	struct guest *guest = g->duplicate[0] ? NULL : g->free;
	if (!guest) {
		guest = arena_alloc(&g->pool, sizeof(*guest));
		*guest = (struct guest){.rooms = {NULL, NULL}};
		return guest;
	}
	g->free = guest->next;
	*guest = (struct guest){.rooms = {guest->rooms[0], guest->rooms[1]}};
	return guest;
}

/** Write a greeting with a nonce of its own. Returns 0; -EIO if there are no random numbers. */
static int greet(struct guests *g, struct guest *guest) {
	if (getrandom(g->greeting.nonce, NONCE_BYTES, 0) != NONCE_BYTES) {
		return -EIO;
	}
	greeting_encode(&g->greeting, guest->greeting);
	return stream_send(guest->line.fd, guest->greeting, GREETING_BYTES);
}

struct guest *guest_arrive(struct guests *g, int fd, const struct address *peer) {
	if (g->n_unproved >= g->max_unproved) {
		guest_close(g, guests_oldest(g), PART_STRANGER + STRANGER_SILENT);
	}
	struct guest *guest = new_guest(g);
	guest->line.fd = fd;
	guest->peer = *peer;
	join_list(g, guest, GUEST_UNPROVED);
	if (line_watch(fd, g->epoll, EPOLL_CTL_ADD, (epoll_data_t){guest}) < 0 || greet(g, guest) < 0) {
		guest_close(g, guest, PART_ASIDE);
	}
	return guest;
}

void guests_accept(struct guests *g, int listener, uint32_t seconds) {
	struct address peer;
	g->greeting.seconds = seconds;
	int fd = 0;
	for (int i = 0; i < ACCEPTS && (fd >= 0 || fd == -ECONNABORTED); i++) {
		fd = listen_accept(listener, &peer);
		if (fd >= 0) {
			guest_arrive(g, fd, &peer);
		}
	}
	if (fd < 0 && fd != -EAGAIN) {
		// No descriptors or no memory are left. Whoever waits would wake us at once, again and again.
		poll(NULL, 0, PAUSE_MS);
	}
}

/** Members come again and again: whoever gets this struct next uses its room, too. */
static struct str keep_text(struct guests *g, char **room, struct str text) {
	if (!*room) {
		*room = arena_alloc(&g->pool, TEXT_MAX);
	}
	text.p = memcpy(*room, text.p, text.len);
	return text;
}

/** Keep what a HELLO says. */
static void describe(struct guests *g, struct guest *guest, const struct hello *hello) {
	struct str listed = g->call->cluster->scope == SCOPE_NODE && hello->rank < g->call->size
				    ? roll_host(g->call, hello->rank)
				    : STR("");
	guest->rank = hello->rank;
	guest->size = hello->size;
	guest->starts = hello->starts;
	guest->incarnation = hello->incarnation;
	memcpy(guest->digest, hello->digest, sizeof(guest->digest));
	guest->clock_ms = (int64_t)(hello->clock_ms - clock_wall_ms());
	// Most say the name that the list has: it is not copied.
	guest->host = str_eq(hello->host, listed) ? listed : keep_text(g, &guest->rooms[0], hello->host);
	guest->node =
		str_eq(hello->node, guest->host) ? guest->host : keep_text(g, &guest->rooms[1], hello->node);
	g->others += hello->size != g->call->size;
}

/** Of two processes with one rank: one that took part in no start was made in place of the other. */
static bool is_newer(const struct guest *a, const struct guest *b) {
	return b->starts && (!a->starts || a->starts > b->starts);
}

void guest_refuse(struct guests *g, struct guest *guest, const struct no *no) {
	unsigned char payload[HELLO_MAX];
	if (!guest->refused) {
		guest->refused = true;
		if (guest->state == GUEST_PRESENT) {
			g->seats[guest->rank].refused = true;
		}
		line_send(&guest->line, FRAME_NO, payload, no_encode(no, payload));
	}
}

/** Tell @guest to end: @newer has its rank now. */
static void replace(struct guests *g, struct guest *guest, const struct guest *newer) {
	char text[2 * TEXT_MAX + sizeof(" was replaced by ; ending")];
	struct str name = guest_name(guest);
	snprintf(text, sizeof(text), "%.*s was replaced by %.*s; ending", (int)name.len, name.p,
		 (int)newer->node.len, newer->node.p);
	guest_refuse(g, guest, &(struct no){.kind = NO_REPLACED, .text = str_of(text)});
}

/**
 * Give @guest its seat. The newer process wins: the older one was restarted, or is lost without the
 * kernel's notice. If the older one comes again, both are alive. Returns false if it has to end itself.
 */
static bool take_seat(struct guests *g, struct guest *guest) {
	struct seat *seat = &g->seats[guest->rank];
	struct guest *older = seat->guest;
	const bool other = older && older->incarnation != guest->incarnation,
		   ours = guest->rank == g->call->rank;
	g->mixed |= (other || ours) && g->call->nameless && g->now < g->started + NAMELESS_MS;
	if (ours) {
		// The seat is not free for anybody.
		g->duplicate[0] = g->duplicate[1] = guest;
		return true;
	}
	if (other && older->starts != guest->starts) {
		if (!is_newer(guest, older)) {
			replace(g, guest, older);
			return false;
		}
		replace(g, older, guest);
		guest_close(g, older, PART_OVER);
		older = NULL;
	}
	if (older && seat->replaced == guest->incarnation) {
		g->duplicate[0] = older;
		g->duplicate[1] = guest;
	} else if (older && other) {
		seat->replaced = older->incarnation;
		if (!str_eq(older->node, guest->node)) {
			g->hold = g->hold > guest->since + HOLD_MS ? g->hold : guest->since + HOLD_MS;
		}
	}
	if (older ? older->incarnation != guest->incarnation : seat->gone != 0) {
		g->restarts++;
	}
	if (older && !g->duplicate[0]) {
		guest_close(g, older, PART_ASIDE);
	}
	g->present += !seat->guest;
	g->changes++;
	seat->guest = guest;
	seat->refused = false;
	g->last = guest->rank;
	g->last_ms = g->now - g->started;
	return true;
}

/** Returns as take_frame(). */
static int take_hello(struct guests *g, struct guest *guest, const struct frame *frame,
		      struct hearing *hearing) {
	const struct roll_call *call = g->call;
	struct hello hello;
	if (frame->type != FRAME_HELLO || hello_decode(frame->payload, &hello) < 0) {
		return -EPROTO;
	}
	if (hello.starts > call->max_restarts &&
	    hello.digest[FACTS_WORLD] == call->facts->digest[FACTS_WORLD]) {
		// It has our --max-restarts, so it cannot have started so often.
		return -EPROTO;
	}
	leave_list(g, guest);
	describe(g, guest, &hello);
	join_list(g, guest, hello.rank < call->size ? GUEST_PRESENT : GUEST_BEYOND);
	hearing->left_ms = hello.left_ms;
	hearing->able = (enum able)hello.able;
	hearing->text = hello.why_not;
	if (guest->state == GUEST_BEYOND) {
		return SAID_HELLO;
	}
	return take_seat(g, guest) ? SAID_HELLO : -ENODATA;
}

/** Take one whole frame. Returns enum said; a negative errno: the guest has to go. */
static int take_frame(struct guests *g, struct guest *guest, const struct frame *frame,
		      struct hearing *hearing) {
	enum bye_why why;
	if (guest->state == GUEST_PROVED) {
		return take_hello(g, guest, frame, hearing);
	}
	if (frame->type == FRAME_FACTS && guest->asked) {
		guest->asked--;
		hearing->text = frame->payload;
		return SAID_FACTS;
	}
	if (frame->type == FRAME_BYE && bye_decode(frame->payload, &why) == 0) {
		// It does not wait for GO any more, so it is not here any more.
		return -ECONNABORTED;
	}
	if (frame->type == FRAME_HEARD && g->released) {
		guest->heard = true;
		return SAID_NOTHING;
	}
	return -EPROTO;
}

/** The proof of @guest is right: prove ourselves. Returns 0; or why it goes. */
static unsigned admit(struct guests *g, struct guest *guest, const unsigned char nonce[NONCE_BYTES]) {
	unsigned char payload[HELLO_MAX];
	if (g->n_members >= g->max_members && g->proved.first) {
		// It has not said HELLO, and will come again.
		guest_close(g, g->proved.first, PART_ASIDE);
	}
	if (g->n_members >= g->max_members) {
		return PART_ASIDE;
	}
	line_begin(&guest->line, guest->line.fd, 'd', &g->call->key, guest->greeting, nonce);
	leave_list(g, guest);
	join_list(g, guest, GUEST_PROVED);
	size_t n = proof_encode(g->port, payload);
	return line_send(&guest->line, FRAME_PROOF, payload, n) < 0 ? PART_ASIDE : 0;
}

/** What @bytes are, which are no right MEET: text, or as random as one with another key. */
static enum stranger_as unlike(const unsigned char bytes[MEET_BYTES]) {
	size_t plain = 0;
	while (plain < NONCE_BYTES && bytes[plain] < 0x7f) {
		plain++;
	}
	return plain == NONCE_BYTES ? STRANGER_OTHER : STRANGER_KEY;
}

/** Read MEET. Who has no right one gets no answer. Returns 0; or why it goes. */
static unsigned read_meet(struct guests *g, struct guest *guest, bool over) {
	unsigned char bytes[MEET_BYTES], proof[TAG_BYTES];
	ssize_t n = stream_peek(guest->line.fd, bytes, sizeof(bytes));
	if (n == -EAGAIN || (n > 0 && n < MEET_BYTES && !over && torch_like(bytes, (size_t)n) <= 0)) {
		return 0;
	}
	if (n <= 0) {
		return PART_SILENT;
	}
	if (torch_like(bytes, (size_t)n) > 0) {
		return PART_STRANGER + STRANGER_TORCH;
	}
	if (n < MEET_BYTES || read(guest->line.fd, bytes, sizeof(bytes)) != MEET_BYTES) {
		return PART_STRANGER + STRANGER_OTHER;
	}
	key_proof(&g->call->key, guest->greeting, bytes, proof);
	return tag_equal(proof, bytes + NONCE_BYTES) ? admit(g, guest, bytes) : PART_STRANGER + unlike(bytes);
}

/** Read frames until one says something. Returns 0; or why it goes. */
static unsigned read_frames(struct guests *g, struct guest *guest, struct hearing *h, enum said *said) {
	struct frame frame;
	for (; *said == SAID_NOTHING; h->n++) {
		if (h->n == LINE_TURN) {
			line_watch(guest->line.fd, g->epoll, EPOLL_CTL_MOD, (epoll_data_t){guest});
			return 0;
		}
		size_t max = guest->asked ? FRAME_MAX : HELLO_MAX;
		int r = line_take(&guest->line, h->bytes, max, h->over, &frame);
		if (r == -EAGAIN) {
			return 0;
		}
		r = r < 0 ? r : take_frame(g, guest, &frame, h);
		if (r == -EPROTO) {
			return PART_STRANGER + STRANGER_OTHER;
		}
		if (r < 0) {
			return r == -ENODATA ? PART_OVER : r == -ECONNABORTED ? PART_ASIDE : PART_RESET;
		}
		*said = (enum said)r;
	}
	return 0;
}

enum said guest_hear(struct guests *g, struct guest *guest, struct hearing *hearing) {
	enum said said = SAID_NOTHING;
	unsigned parting = guest->state == GUEST_UNPROVED ? read_meet(g, guest, hearing->over) : 0;
	if (!parting && guest->state > GUEST_UNPROVED) {
		parting = read_frames(g, guest, hearing, &said);
	}
	if (parting) {
		guest_close(g, guest, parting);
	}
	return said;
}

void guests_send(struct guests *g, enum frame_type type, const void *payload, size_t n) {
	g->released = type == FRAME_GO;
	for (struct guest *guest = g->known.first, *next; guest; guest = next) {
		next = guest->next;
		// One that does not read its few bytes is as good as gone.
		if (line_send(&guest->line, type, payload, n) < 0) {
			guest_close(g, guest, PART_ASIDE);
		}
	}
}

void guests_report_deaf(struct guests *g) {
	for (const struct guest *guest = g->known.first; guest; guest = guest->next) {
		if (!guest->heard) {
			guest_is_deaf(g, guest);
		}
	}
	if (g->n_deaf) {
		roll_put_more(&g->deaf, g->n_deaf > WAIT_NAMES ? g->n_deaf - WAIT_NAMES : 0);
		roll_say(g->call, ROLL_WARNING, "roll call: %s was told to start, but may not have heard",
			 buf_text(&g->deaf));
	}
}

void guests_begin(struct guests *g) {
	g->greeting = (struct greeting){.lowest = ROLL_VERSION, .highest = ROLL_VERSION};
	g->deaf = BUF(g->call->arena);
	arena_init(&g->pool, NULL, 0, g->call->arena->full);
	g->seats = arena_array(g->call->arena, g->call->size, sizeof(*g->seats));
	memset(g->seats, 0, g->call->size * sizeof(*g->seats));
	g->present = 1;
}
