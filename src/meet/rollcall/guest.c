// SPDX-License-Identifier: Apache-2.0

#include "rollcall/decide.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

/** How long a connection may take for its proof, and then for its HELLO, in ms. */
#define PROOF_MS 5000
#define HELLO_MS 5000

/** At most so many connections are accepted at once, so that the others are read in between. */
#define ACCEPTS 256

/** The longest text in a HELLO, in bytes: its length is one byte. */
#define TEXT_MAX 255

/** The pause after accept() has failed, in ms. */
#define PAUSE_MS 20

/** Warn of an address after so many silent connections. */
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

static struct guest_list *list_of(struct guests *g, enum guest_state state) {
	return state == GUEST_UNPROVED ? &g->unproved : state == GUEST_PROVED ? &g->proved : &g->known;
}

static void remove_from_list(struct guests *g, struct guest *guest) {
	list_remove(list_of(g, guest->state), guest);
	if (guest->state == GUEST_UNPROVED) {
		unproved_leave(&g->senders, guest->sender);
		g->n_unproved--;
	} else {
		g->n_members--;
	}
}

/** Set the state of @guest, and add it to the list of that state. */
static void add_to_list(struct guests *g, struct guest *guest, enum guest_state state) {
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

/** Find or add the stranger at @address. NULL: there are too many. */
static struct stranger *find_stranger(struct guests *g, const struct address *address) {
	struct stranger *s = g->strangers;
	for (; s < g->strangers + g->n_strangers; s++) {
		if (address_same(&s->address, address)) {
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

/** Warn of @s, once for each value of enum stranger_as. @changed: `as` has a new value. */
static void warn_stranger(const struct guests *g, const struct stranger *s, bool changed) {
	char text[ADDRESS_TEXT];
	address_text(&s->address, text);
	if (changed && s->as == STRANGER_TORCH) {
		roll_say(g->call, ROLL_WARNING,
			 "roll call: %s speaks to port %u as PyTorch does: "
			 "it was started without a roll call; "
			 "start it with the same --for=all or --together",
			 text, g->port);
	} else if (changed && s->as == STRANGER_KEY) {
		roll_say(g->call, ROLL_WARNING,
			 "roll call: %s calls with another secret, or for another job; "
			 "compare DISTINIT_SECRET and DISTINIT_JOB on both nodes",
			 text);
	} else if (s->as == STRANGER_SILENT && s->times == SILENT_TIMES) {
		roll_say(g->call, ROLL_WARNING, "roll call: %s connected %u times, and sent nothing", text,
			 s->times);
	}
}

static void count_stranger(struct guests *g, const struct address *address, enum stranger_as as) {
	struct stranger *s = find_stranger(g, address);
	if (s) {
		bool changed = as > s->as;
		s->times++;
		s->as = changed ? as : s->as;
		warn_stranger(g, s, changed);
	}
}

void guest_close(struct guests *g, struct guest *guest, unsigned reason) {
	if (guest->state == GUEST_FREE) {
		return;
	}
	coordinator_decide(g->roll, &(struct coordinator_event){.what = COORDINATOR_GONE, .guest = guest},
			   g->now);
	if (reason >= CLOSE_STRANGER || reason == CLOSE_SILENT) {
		unsigned as = reason == CLOSE_SILENT ? STRANGER_SILENT : reason - CLOSE_STRANGER;
		count_stranger(g, &guest->peer, (enum stranger_as)as);
	}
	remove_from_list(g, guest);
	guest->state = GUEST_FREE;
	guest->next = g->free;
	g->free = guest;
	if (g->looked->child.fd >= 0 || g->comparing->fd >= 0) {
		// Before Linux 5.9 a look-up child has the connection, too. Without this, epoll would report
		// it for ever.
		epoll_ctl(g->epoll, EPOLL_CTL_DEL, guest->line.fd, NULL);
	}
	if (reason < CLOSE_ASIDE) {
		close(guest->line.fd);
	} else {
		stream_reset(guest->line.fd);
	}
}

void guests_close(struct guests *g, const struct guest_list *list, enum close_reason reason) {
	while (list->first) {
		guest_close(g, list->first, reason);
	}
}

/**
 * Close the connections that have been in @list for @ms; the oldest come first. Returns when the next one is
 * due.
 */
static uint64_t expire(struct guests *g, const struct guest_list *list, uint64_t ms) {
	while (list->first && g->now >= list->first->since + ms) {
		guest_close(g, list->first, CLOSE_STRANGER + STRANGER_SILENT);
	}
	return list->first ? list->first->since + ms : CLOCK_NEVER;
}

uint64_t guests_expire(struct guests *g) {
	uint64_t unproved = expire(g, &g->unproved, PROOF_MS);
	return clock_earlier(unproved, expire(g, &g->proved, HELLO_MS));
}

/** Whether @address belongs to one of the hosts that were looked up. */
static bool is_listed(const struct looked *looked, const struct address *address) {
	for (uint32_t i = 0; i < looked->n; i++) {
		const struct addresses *addresses = &looked->at[i].addresses;
		for (uint32_t k = 0; k < addresses->n; k++) {
			if (address_same(&addresses->at[k], address)) {
				return true;
			}
		}
	}
	return false;
}

/** Whether to evict @a before @b, which came earlier. */
static bool evict_first(const struct guests *g, const struct guest *a, const struct guest *b) {
	int more = unproved_compare(a->sender, b->sender);
	if (more) {
		return more > 0;
	}
	return is_listed(g->looked, &b->peer) && !is_listed(g->looked, &a->peer);
}

struct guest *guests_to_evict(const struct guests *g) {
	struct guest *first = g->unproved.first;
	for (struct guest *guest = first; guest; guest = guest->next) {
		first = evict_first(g, guest, first) ? guest : first;
	}
	return first;
}

static struct guest *new_guest(struct guests *g) {
	struct guest *guest = g->free;
	if (!guest) {
		guest = arena_alloc(&g->pool, sizeof(*guest));
		*guest = (struct guest){.rooms = {NULL, NULL}};
		return guest;
	}
	g->free = guest->next;
	*guest = (struct guest){.rooms = {guest->rooms[0], guest->rooms[1]}};
	return guest;
}

/**
 * Send @guest a greeting with a new nonce. Returns 0; -EIO if there are no random numbers; as stream_send().
 */
static int greet(struct guests *g, struct guest *guest) {
	if (getrandom(g->greeting.nonce, NONCE_BYTES, 0) != NONCE_BYTES) {
		return -EIO;
	}
	greeting_encode(&g->greeting, guest->greeting);
	return stream_send(guest->line.fd, guest->greeting, GREETING_BYTES);
}

struct guest *guest_arrive(struct guests *g, int fd, const struct address *peer) {
	if (g->n_unproved >= g->max_unproved) {
		guest_close(g, guests_to_evict(g), CLOSE_STRANGER + STRANGER_SILENT);
	}
	struct guest *guest = new_guest(g);
	guest->line.fd = fd;
	guest->peer = *peer;
	add_to_list(g, guest, GUEST_UNPROVED);
	if (line_watch(fd, g->epoll, EPOLL_CTL_ADD, (epoll_data_t){guest}) < 0 || greet(g, guest) < 0) {
		guest_close(g, guest, CLOSE_ASIDE);
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
		// No descriptor or no memory is left. Without a pause, the waiting connection would wake us
		// again at once.
		poll(NULL, 0, PAUSE_MS);
	}
}

/**
 * Copy @text into *@room, which is allocated once per struct: reconnecting members must not use up memory.
 */
static struct str keep_text(struct guests *g, char **room, struct str text) {
	if (!*room) {
		*room = arena_alloc(&g->pool, TEXT_MAX);
	}
	text.p = memcpy(*room, text.p, text.len);
	return text;
}

/** Store @hello in @guest. */
static void keep_hello(struct guests *g, struct guest *guest, const struct hello *hello) {
	struct str listed = g->call->cluster->scope == SCOPE_NODE && hello->rank < g->call->size
				    ? roll_host(g->call, hello->rank)
				    : STR("");
	guest->rank = hello->rank;
	guest->size = hello->size;
	guest->starts = hello->starts;
	guest->incarnation = hello->incarnation;
	memcpy(guest->digest, hello->digest, sizeof(guest->digest));
	guest->clock_ms = (int64_t)(hello->clock_ms - clock_wall_ms());
	// The name is usually that of the list of hosts, and then it is not copied.
	guest->host = str_eq(hello->host, listed) ? listed : keep_text(g, &guest->rooms[0], hello->host);
	guest->node =
		str_eq(hello->node, guest->host) ? guest->host : keep_text(g, &guest->rooms[1], hello->node);
}

void guest_refuse(struct guest *guest, const struct no *no) {
	unsigned char payload[HELLO_MAX];
	if (!guest->refused) {
		guest->refused = true;
		line_send(&guest->line, FRAME_NO, payload, no_encode(no, payload));
	}
}

/** Turn @frame of @guest into *@event. The first frame must be a HELLO. */
static void guest_take_frame(struct guests *g, struct guest *guest, const struct frame *frame,
			     struct coordinator_event *event) {
	enum bye_why why;
	struct hello hello;
	const bool first = guest->state == GUEST_PROVED;
	*event = (struct coordinator_event){.what = COORDINATOR_UNEXPECTED, .guest = guest};
	if (first && frame->type == FRAME_HELLO && hello_decode(frame->payload, &hello) == 0) {
		remove_from_list(g, guest);
		keep_hello(g, guest, &hello);
		add_to_list(g, guest, hello.rank < g->call->size ? GUEST_PRESENT : GUEST_BEYOND);
		event->what = COORDINATOR_HELLO;
		event->left_ms = hello.left_ms;
		event->able = (enum able)hello.able;
		event->text = hello.why_not;
	} else if (!first && frame->type == FRAME_FACTS) {
		event->what = COORDINATOR_FACTS;
		event->text = frame->payload;
	} else if (!first && frame->type == FRAME_BYE && bye_decode(frame->payload, &why) == 0) {
		event->what = COORDINATOR_BYE;
	} else if (!first && frame->type == FRAME_HEARD) {
		event->what = COORDINATOR_HEARD;
	}
}

/** The proof of @guest is right: send ours. Returns 0; or the reason to close it. */
static unsigned admit(struct guests *g, struct guest *guest, const unsigned char nonce[NONCE_BYTES]) {
	unsigned char payload[HELLO_MAX];
	if (g->n_members >= g->max_members && g->proved.first) {
		// Evict the oldest connection that has not sent HELLO. It reconnects.
		guest_close(g, g->proved.first, CLOSE_ASIDE);
	}
	if (g->n_members >= g->max_members) {
		return CLOSE_ASIDE;
	}
	line_begin(&guest->line, guest->line.fd, 'd', &g->call->key, guest->greeting, nonce);
	remove_from_list(g, guest);
	add_to_list(g, guest, GUEST_PROVED);
	size_t n = proof_encode(g->port, payload);
	return line_send(&guest->line, FRAME_PROOF, payload, n) < 0 ? CLOSE_ASIDE : 0;
}

/**
 * Judge @bytes, a MEET with a wrong proof: text is another protocol; random bytes are a MEET with another
 * key.
 */
static enum stranger_as judge_meet(const unsigned char bytes[MEET_BYTES]) {
	size_t plain = 0;
	while (plain < NONCE_BYTES && bytes[plain] < 0x7f) {
		plain++;
	}
	return plain == NONCE_BYTES ? STRANGER_OTHER : STRANGER_KEY;
}

/**
 * Read the MEET of @guest. If its proof is wrong, nothing is sent to it. Returns 0; or the reason to close
 * it.
 */
static unsigned read_meet(struct guests *g, struct guest *guest, bool over) {
	unsigned char bytes[MEET_BYTES], proof[TAG_BYTES];
	ssize_t n = stream_peek(guest->line.fd, bytes, sizeof(bytes));
	if (n == -EAGAIN || (n > 0 && n < MEET_BYTES && !over && torch_like(bytes, (size_t)n) <= 0)) {
		return 0;
	}
	if (n <= 0) {
		return CLOSE_SILENT;
	}
	if (torch_like(bytes, (size_t)n) > 0) {
		return CLOSE_STRANGER + STRANGER_TORCH;
	}
	if (n < MEET_BYTES || read(guest->line.fd, bytes, sizeof(bytes)) != MEET_BYTES) {
		return CLOSE_STRANGER + STRANGER_OTHER;
	}
	key_proof(&g->call->key, guest->greeting, bytes, proof);
	return tag_equal(proof, bytes + NONCE_BYTES) ? admit(g, guest, bytes)
						     : CLOSE_STRANGER + judge_meet(bytes);
}

bool guest_hear(struct guests *g, struct guest *guest, struct hearing *h, struct coordinator_event *event) {
	const unsigned wrong = guest->state == GUEST_UNPROVED ? read_meet(g, guest, h->over) : 0;
	struct frame frame;
	if (wrong) {
		guest_close(g, guest, wrong);
	}
	if (guest->state <= GUEST_UNPROVED) {
		return false;
	}
	if (h->n++ == LINE_TURN) {
		line_watch(guest->line.fd, g->epoll, EPOLL_CTL_MOD, (epoll_data_t){guest});
		return false;
	}
	int r = line_take(&guest->line, h->bytes, guest->asked ? FRAME_MAX : HELLO_MAX, h->over, &frame);
	if (r < 0) {
		if (r != -EAGAIN) {
			guest_close(g, guest,
				    r == -EPROTO    ? CLOSE_STRANGER + STRANGER_OTHER
				    : r == -ENODATA ? CLOSE_DONE
						    : CLOSE_RESET);
		}
		return false;
	}
	guest_take_frame(g, guest, &frame, event);
	return true;
}

void guests_send(struct guests *g, enum frame_type type, const void *payload, size_t n) {
	for (struct guest *guest = g->known.first, *next; guest; guest = next) {
		next = guest->next;
		// If even a short frame finds no room, the member does not read.
		if (line_send(&guest->line, type, payload, n) < 0) {
			guest_close(g, guest, CLOSE_ASIDE);
		}
	}
}

void guests_begin(struct guests *g) {
	g->greeting = (struct greeting){.lowest = ROLL_VERSION, .highest = ROLL_VERSION};
	arena_init(&g->pool, NULL, 0, g->call->arena->full);
}
