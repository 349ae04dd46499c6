// SPDX-License-Identifier: Apache-2.0

/** A member: waits for events, passes them to member_decide(), and does what that returns. */

#include "rollcall/member_decide.h"

#include "base/clock.h"
#include "base/duration.h"
#include "cluster/endpoint.h"
#include "net/connect.h"
#include "net/listen.h"

#include <errno.h>
#include <poll.h>
#include <sys/random.h>
#include <unistd.h>

/** A member, with its connection. */
struct caller {
	const struct roll_call *call;
	struct roll_end *end;
	struct member member;
	/** Its deadline is the end of the current wait. */
	struct watch watch;
	/** The addresses of the master's name. */
	struct addresses addresses;
	struct line line;
	/** A random number that identifies this process. */
	uint64_t incarnation;
	/** A warning was printed that this member waits. */
	bool warned;
	unsigned char greeting[GREETING_BYTES];
	/** The first @n bytes of the greeting or frame that is being read. */
	size_t n;
	unsigned char bytes[HELLO_MAX];
};

// --- printing

/** Print on a terminal what this member waits for. */
static void show_status(struct caller *c, uint64_t waited_ms, const char *failure) {
	const struct roll_call *call = c->call;
	const struct arena before = *call->arena;
	bool there = c->member.heard == HEARD_COORDINATOR;
	const char *more = there ? member_news(&c->member) : failure;
	roll_say(call, ROLL_STATUS, "roll call: waiting for %s%s, %s%s%s", there ? "the others at " : "",
		 c->member.master, duration_text(waited_ms / 1000 * 1000).s, *more ? ": " : "", more);
	arena_back(call->arena, &before);
}

/**
 * Print that the coordinator was not reached yet. Called every WAIT_PROGRESS_MS; on a terminal, every
 * STATUS_MS.
 */
static void show_progress(void *context, uint64_t waited_ms, const char *failure) {
	struct caller *c = context;
	if (c->call->rewrites) {
		show_status(c, waited_ms, failure);
		return;
	}
	if (c->line.fd >= 0) {
		return;
	}
	c->warned = true;
	roll_say(c->call, ROLL_WARNING, "roll call: still waiting for %s after %s%s%s", c->member.master,
		 duration_text(waited_ms / 1000 * 1000).s, *failure ? ": " : "", failure);
}

/** Print the last WAIT. */
static void show_news(struct caller *c) {
	const struct arena before = *c->call->arena;
	c->warned |= !c->call->verbose;
	roll_say(c->call, c->call->verbose ? ROLL_INFO : ROLL_WARNING, "roll call: %s",
		 member_news(&c->member));
	arena_back(c->call->arena, &before);
}

// --- sending

static int send_meet(struct caller *c) {
	unsigned char meet[MEET_BYTES];
	if (getrandom(meet, NONCE_BYTES, 0) != NONCE_BYTES) {
		return -EIO;
	}
	key_proof(&c->call->key, c->greeting, meet, meet + NONCE_BYTES);
	line_begin(&c->line, c->line.fd, 'm', &c->call->key, c->greeting, meet);
	return stream_send(c->line.fd, meet, sizeof(meet));
}

static int send_hello(struct caller *c) {
	const struct roll_call *call = c->call;
	unsigned char payload[HELLO_MAX];
	uint64_t left = clock_left(clock_now_ms(), c->member.deadline);
	struct hello hello = {
		.rank = call->rank,
		.size = call->size,
		.starts = call->starts,
		.incarnation = c->incarnation,
		.clock_ms = clock_wall_ms(),
		.left_ms = (uint32_t)clock_earlier(left, UINT32_MAX),
		.able = !call->unable	     ? ABLE
			: call->asked_to_end ? ABLE_ASKED_TO_END
					     : ABLE_NOT,
		.why_not = call->unable ? str_of(call->unable) : STR(""),
		.host = roll_host(call, call->rank),
		.node = str_of(call->node),
	};
	memcpy(hello.digest, call->facts->digest, sizeof(call->facts->digest));
	return line_send(&c->line, FRAME_HELLO, payload, hello_encode(&hello, payload));
}

/** Send the frames of @todo. Returns 0; a negative errno if the connection is broken. */
static int send_frames(struct caller *c, const struct member_todo *todo) {
	unsigned char payload[HELLO_MAX];
	int r = todo->what & DO_SEND_MEET ? send_meet(c) : 0;
	if (todo->what & DO_SEND_HELLO) {
		r = send_hello(c);
	}
	if (todo->what & DO_SEND_FACTS) {
		const struct str facts = c->call->facts->payload[todo->group];
		r = line_send(&c->line, FRAME_FACTS, facts.p, facts.len);
	}
	if (todo->what & DO_SEND_HEARD) {
		line_send(&c->line, FRAME_HEARD, "", 0);
	}
	if (todo->what & DO_SEND_BYE) {
		line_send(&c->line, FRAME_BYE, payload, bye_encode(todo->bye, payload));
	}
	return r;
}

/** Pass the connection to the caller of the roll call. */
static void keep_line(struct caller *c) {
	c->end->lines = arena_alloc(c->call->arena, sizeof(*c->end->lines));
	*c->end->lines = (struct kept_line){c->line, str_of(c->call->master), false, false, NULL};
	c->line.fd = -1;
}

/** Do what member_decide() returned. Returns as send_frames(). */
static int apply(struct caller *c, const struct member_todo *todo) {
	int r = send_frames(c, todo);
	if (todo->what & DO_KEEP) {
		keep_line(c);
	}
	if (todo->what & DO_CLOSE && c->line.fd >= 0) {
		close(c->line.fd);
		c->line.fd = -1;
	}
	if (todo->what & DO_SHOW_NEWS) {
		show_news(c);
	}
	if (todo->what & DO_SHOW_WHY) {
		roll_say(c->call, ROLL_DEBUG, "roll call: %s: %s", c->member.master, c->member.why.text);
	}
	return r;
}

// --- receiving

/**
 * The event for @r, the result of a wait that has ended without what it waited for: the time is over, or a
 * signal came.
 */
static struct member_event waited(int r) {
	return (struct member_event){.what = r == -EINTR ? MEMBER_ASKED_TO_END : MEMBER_DUE};
}

static struct member_event look_up(struct caller *c) {
	int r = lookup(&c->watch, c->call->master, c->call->port, &c->addresses);
	c->member.failure = c->watch.failure;
	return r == -EINTR ? waited(r) : (struct member_event){.what = MEMBER_LOOKED_UP, .code = r};
}

static struct member_event connect_to(struct caller *c, uint16_t port) {
	uint32_t which;
	for (uint32_t i = 0; i < c->addresses.n; i++) {
		address_set_port(&c->addresses.at[i], port);
	}
	int r = connect_open(&c->watch, &c->addresses, &which);
	c->member.failure = c->watch.failure;
	if (r >= 0) {
		c->line.fd = r;
		c->n = 0;
		// If the coordinator's machine fails silently, a coordinator may be started on another one.
		stream_keepalive(r);
	}
	return r == -EINTR ? waited(r)
			   : (struct member_event){.what = MEMBER_CONNECTION, .code = r < 0 ? r : 0};
}

/**
 * Read bytes until there are @want, and no more: after the start, the rest belongs to the caller of the roll
 * call. Returns 1; 0 if the time is over; -EINTR; -ENODATA at the end.
 */
static int read_bytes(struct caller *c, size_t want) {
	while (c->n < want) {
		int r = watch_poll(&c->watch, c->line.fd, POLLIN, CLOCK_NEVER);
		if (r <= 0) {
			return r;
		}
		ssize_t n = read(c->line.fd, c->bytes + c->n, want - c->n);
		if (n <= 0 && !(n < 0 && errno == EAGAIN)) {
			return -ENODATA;
		}
		c->n += n > 0 ? (size_t)n : 0;
	}
	return 1;
}

static struct member_event read_greeting(struct caller *c) {
	int r = read_bytes(c, GREETING_BYTES);
	if (r == -ENODATA) {
		return (struct member_event){.what = MEMBER_GONE};
	}
	memcpy(c->greeting, c->bytes, GREETING_BYTES);
	c->n = 0;
	return r <= 0 ? waited(r) : (struct member_event){.what = MEMBER_GREETING, .greeting = c->greeting};
}

static struct member_event read_frame(struct caller *c) {
	struct member_event event = {.what = MEMBER_FRAME};
	int length = 0, r = read_bytes(c, 2);
	if (r > 0) {
		length = frame_length(c->bytes, c->n, sizeof(c->bytes));
		r = length > 0 ? read_bytes(c, (size_t)length) : r;
	}
	if (r == -ENODATA) {
		return (struct member_event){.what = MEMBER_GONE};
	}
	if (r <= 0) {
		return waited(r);
	}
	c->n = 0;
	if (length <= 0) {
		return (struct member_event){.what = MEMBER_NO_FRAME, .text = "it sends what is not a frame"};
	}
	if (line_receive(&c->line, c->bytes, (size_t)length, &event.frame) < 0) {
		return (struct member_event){.what = MEMBER_NO_FRAME,
					     .text = "it sends frames with a wrong signature"};
	}
	return event;
}

/** Wait for the next event, as the state and @todo need it. */
static struct member_event await(struct caller *c, const struct member_todo *todo) {
	c->watch.failure = c->member.failure;
	c->watch.deadline = todo->until;
	switch (c->member.state) {
	case MEMBER_PAUSES:
		return waited(watch_poll(&c->watch, -1, 0, CLOCK_NEVER));
	case MEMBER_LOOKS_UP:
		return look_up(c);
	case MEMBER_CONNECTS:
		return connect_to(c, todo->port);
	case MEMBER_CONNECTED:
		return read_greeting(c);
	default:
		return read_frame(c);
	}
}

/** Handle events until the roll call is over. Returns 0; a negative errno. */
static int call_on(struct caller *c, uint64_t seed) {
	struct member_todo todo = member_begin(&c->member, c->watch.started, c->watch.deadline, seed);
	while (c->member.state != MEMBER_DONE) {
		struct member_event event = {.what = MEMBER_UNSENT};
		if (apply(c, &todo) == 0) {
			event = await(c, &todo);
		}
		todo = member_decide(&c->member, &event, clock_now_ms());
	}
	apply(c, &todo);
	return todo.code;
}

int member_run(const struct roll_call *call, struct roll_end *end) {
	struct caller c = {.call = call,
			   .end = end,
			   .member = {.call = call,
				      .end = end,
				      .master = endpoint_text(call->arena, call->master, call->port)},
			   .line = {.fd = -1}};
	struct wait_for wait = {.host = call->master,
				.port = call->port,
				.timeout_ms = call->timeout_ms,
				.progress = show_progress,
				.progress_first_ms = call->rewrites ? STATUS_FIRST_MS : 0,
				.progress_ms = call->rewrites ? STATUS_MS : 0,
				.context = &c};
	uint64_t random[2];
	end->result = ROLL_ERROR;
	c.member.n_ports = roll_ports(call, c.member.ports);
	int r = watch_begin(&c.watch, &wait);
	if (r == 0) {
		if (getrandom(random, sizeof(random), 0) == sizeof(random)) {
			c.incarnation = random[0];
			r = call_on(&c, random[1]);
			c.watch.failure = c.member.failure;
		} else {
			r = err_set(&c.watch.failure, EIO, "there are no random numbers");
		}
		watch_done(&c.watch);
	}
	end->failure = c.watch.failure;
	end->signal = c.watch.signal;
	end->waited_ms = clock_now_ms() - c.watch.started;
	explicit_bzero(&c.line, sizeof(c.line));
	if (r == 0 && c.warned) {
		roll_say(call, ROLL_WARNING, "roll call: %s is there, and all start, after %s",
			 c.member.master, duration_text(end->waited_ms).s);
	} else if (r < 0 && r != -EINTR && !end->error.text[0]) {
		err_set(&end->error, -r, "roll call: %s cannot be waited for: %s", c.member.master,
			c.watch.failure.text);
	}
	return r;
}
