// SPDX-License-Identifier: Apache-2.0

/** A member: it calls the coordinator until it is told to start, or why not. */

#include "rollcall/rollcall.h"

#include "base/clock.h"
#include "base/duration.h"
#include "cluster/endpoint.h"
#include "net/backoff.h"
#include "net/connect.h"
#include "net/listen.h"

#include <errno.h>
#include <poll.h>
#include <sys/random.h>
#include <unistd.h>

/** How long addresses are used before the name is looked up again. */
#define LOOKUP_AGAIN_MS 10000

/** How long a port may take for its greeting and its proof, before it is taken for something else. */
#define PROOF_MS 2000

/** A port that was another's so many times is tried each so many rounds only. */
#define OTHERS_TIMES  2
#define OTHERS_ROUNDS 5

/** How much later than its own deadline a member may end, for the coordinator's sentence. */
#define SENTENCE_MS 1000

/** The news are shown at most once in this time. */
#define NEWS_MS 10000

/** All members do not come at the same moment: this much for each, in microseconds, and at most. */
#define SPREAD_US     50
#define SPREAD_MAX_MS 2000

/** What the coordinator said, and the bytes that it points to. */
struct kept_news {
	struct wait_news news;
	unsigned char bytes[HELLO_MAX];
};

struct member {
	const struct roll_call *call;
	struct roll_end *end;
	/** Where the roll is called, for messages: "main1:29500". */
	const char *master;
	/** What the last connection turned out to be. */
	enum {
		HEARD_NOTHING,
		HEARD_NO_ROLL_CALL,
		HEARD_ANOTHER_JOB,
		HEARD_COORDINATOR,
		HEARD_NO_RESULT,
	} heard;
	/** The first port answered, but not as a roll call. */
	bool foreign;
	/** It has a roll call of another job, or with another secret. */
	bool another_job;
	/** Our incarnation, and a seed. */
	uint64_t random[2];
	/** When to show the news. */
	uint64_t news_at;
	/** A warning said that it is waited for. */
	bool warned;
	/** How often each port was another's, since it last was not. */
	uint32_t others[ROLL_PORTS];
	struct line line;
	/** The port that is tried now. */
	uint16_t port;
	/** When the coordinator was there, and went; 0: it was not. */
	uint64_t went_at;
	/** Our own deadline. The coordinator may move that of the watch while it is there. */
	uint64_t own_deadline;
	/** The ports to try; the job may use the first @n_ports of them. */
	uint16_t ports[ROLL_PORTS];
	uint32_t n_ports;
	struct watch watch;
	/** What the coordinator said last of who is absent; NULL: nothing. */
	struct kept_news *kept;
	/** Why the first port failed, or one where the coordinator was. */
	struct err why;
	/** The beginning of a frame: @n bytes. */
	size_t n;
	unsigned char bytes[HELLO_MAX];
};

static int failed(struct member *m, const char *why) {
	return err_set(&m->watch.failure, EAGAIN, "%s", why);
}

/** Keep @payload for the report. Returns what it says, or NULL. */
static const struct wait_news *keep_news(struct member *m, struct str payload) {
	struct kept_news *kept = m->kept ? m->kept : arena_alloc(m->call->arena, sizeof(*kept));
	m->kept = kept;
	payload.p = memcpy(kept->bytes, payload.p, payload.len);
	m->end->news = wait_decode(payload, &kept->news) == 0 ? &kept->news : NULL;
	return m->end->news;
}

/** "h0 counts 2 of 3 nodes after 12 s; absent: h2", or "". */
static const char *news_text(const struct member *m) {
	const struct wait_news *news = m->end->news;
	struct buf text = BUF(m->call->arena);
	if (!news) {
		return "";
	}
	buf_putf(&text, "%s counts %u of %u %s after %s", m->call->master, news->present, news->size,
		 m->call->noun, duration_text(news->since_ms / 1000 * 1000).s);
	roll_put_absent(&text, news);
	return buf_text(&text);
}

/** Show on a terminal what is waited for. */
static void show_status(struct member *m, uint64_t waited_ms, const char *failure) {
	const struct roll_call *call = m->call;
	const struct arena before = *call->arena;
	bool there = m->heard == HEARD_COORDINATOR;
	const char *more = there ? news_text(m) : failure;
	roll_say(call, ROLL_STATUS, "roll call: waiting for %s%s, %s%s%s", there ? "the others at " : "",
		 m->master, duration_text(waited_ms / 1000 * 1000).s, *more ? ": " : "", more);
	arena_back(call->arena, &before);
}

/** Report that the coordinator is not reached. Called every WAIT_PROGRESS_MS; or on a terminal, all the time. */
static void say_progress(void *context, uint64_t waited_ms, const char *failure) {
	struct member *m = context;
	if (m->call->rewrites) {
		show_status(m, waited_ms, failure);
		return;
	}
	if (m->line.fd >= 0) {
		return;
	}
	m->warned = true;
	roll_say(m->call, ROLL_WARNING, "roll call: still waiting for %s after %s%s%s", m->master,
		 duration_text(waited_ms / 1000 * 1000).s, *failure ? ": " : "", failure);
}

/** Show what the coordinator said, first after a minute: there may be thousands of members. */
static void say_news(struct member *m) {
	uint64_t now = clock_now_ms();
	if (now >= m->news_at) {
		m->news_at = now + (m->call->verbose ? NEWS_MS : now - m->watch.started);
		m->warned |= !m->call->verbose;
		const struct arena before = *m->call->arena;
		roll_say(m->call, m->call->verbose ? ROLL_INFO : ROLL_WARNING, "roll call: %s", news_text(m));
		arena_back(m->call->arena, &before);
	}
}

/**
 * Read more bytes, until there are @want: what follows is not ours after the start. @until is when
 * to stop. Returns 0; -EAGAIN if there are no more, with the failure @gone; -ETIME at @until; -EINTR.
 */
static int read_more(struct member *m, int fd, size_t want, uint64_t until, const char *gone) {
	int r = watch_poll(&m->watch, fd, POLLIN, until);
	if (r <= 0) {
		return r < 0 ? r : -ETIME;
	}
	ssize_t n = read(fd, m->bytes + m->n, want - m->n);
	if (n <= 0) {
		return n < 0 && errno == EAGAIN ? 0 : failed(m, gone);
	}
	m->n += (size_t)n;
	return 0;
}

/** Read the greeting on @fd. Returns 0; -EAGAIN with the failure, as for others; -EINTR. */
static int read_greeting(struct member *m, int fd, uint64_t until, unsigned char bytes[GREETING_BYTES],
			 uint32_t *seconds) {
	struct greeting greeting;
	int r = 0;
	for (m->n = 0; r == 0 && m->n < GREETING_BYTES;) {
		r = read_more(m, fd, GREETING_BYTES, until,
			      "it accepts connections, but closes them at once");
	}
	if (r == -ETIME || (r == 0 && greeting_decode(m->bytes, &greeting) < 0)) {
		m->heard = HEARD_NO_ROLL_CALL;
		return failed(m, "it answers, but not as a roll call");
	}
	if (r == 0 && (greeting.lowest > ROLL_VERSION || greeting.highest < ROLL_VERSION)) {
		return err_set(&m->watch.failure, EAGAIN,
			       "its distinit speaks versions %u to %u of the roll call, and this one %u only",
			       greeting.lowest, greeting.highest, ROLL_VERSION);
	}
	memcpy(bytes, m->bytes, GREETING_BYTES);
	*seconds = r == 0 ? greeting.seconds : 0;
	m->n = 0;
	return r;
}

/** Prove that we know the job's key, to who sent @greeting. Nothing else is said yet. */
static int send_meet(struct member *m, int fd, const unsigned char greeting[GREETING_BYTES]) {
	unsigned char meet[MEET_BYTES];
	if (getrandom(meet, NONCE_BYTES, 0) != NONCE_BYTES) {
		return failed(m, "there are no random numbers");
	}
	key_proof(&m->call->key, greeting, meet, meet + NONCE_BYTES);
	line_begin(&m->line, fd, 'm', &m->call->key, greeting, meet);
	return stream_send(fd, meet, sizeof(meet)) < 0 ? failed(m, "it went before it was told anything") : 0;
}

static int another_job(struct member *m) {
	m->heard = HEARD_ANOTHER_JOB;
	return failed(m, "it speaks the roll call, but of another job or with another secret");
}

/** Whether the coordinator may use @port. */
static bool is_our_port(const struct member *m, uint16_t port, uint32_t *which) {
	for (*which = 0; *which < m->n_ports && m->ports[*which] != port; ++*which) {
	}
	return *which < m->n_ports;
}

/** Somebody relays to a coordinator that has @port: it may be reached there. */
static int by_detour(struct member *m, uint16_t port) {
	uint32_t which;
	m->heard = HEARD_ANOTHER_JOB;
	if (is_our_port(m, port, &which)) {
		m->others[which] = 0;
	}
	return err_set(&m->watch.failure, EAGAIN, "it passes on to a coordinator on port %u", port);
}

/** Wait until the coordinator has proved itself, and check that it is where we came. */
static int read_proof(struct member *m, uint64_t until) {
	const size_t want = FRAME_MIN + 2;
	struct frame frame;
	uint16_t port;
	int r = 0;
	while (r == 0 && m->n < want) {
		r = read_more(m, m->line.fd, want, until, "it closes the connection");
	}
	if (r == -EINTR) {
		return r;
	}
	if (r < 0 || line_receive(&m->line, m->bytes, want, &frame) < 0 || frame.type != FRAME_PROOF ||
	    proof_decode(frame.payload, &port) < 0) {
		return another_job(m);
	}
	m->n = 0;
	return port == m->port ? 0 : by_detour(m, port);
}

static void send_bye(struct member *m, enum bye_why why) {
	unsigned char payload[HELLO_MAX];
	line_send(&m->line, FRAME_BYE, payload, bye_encode(why, payload));
}

static int send_hello(struct member *m) {
	const struct roll_call *call = m->call;
	unsigned char payload[HELLO_MAX];
	uint64_t left = clock_left(clock_now_ms(), m->watch.deadline);
	struct hello hello = {
		.rank = call->rank,
		.size = call->size,
		.starts = call->starts,
		.incarnation = m->random[0],
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
	int r = line_send(&m->line, FRAME_HELLO, payload, hello_encode(&hello, payload));
	return r < 0 ? failed(m, "it went before it was told anything") : 0;
}

static const char unexpected[] = "it sends what a coordinator does not send";

/**
 * It has read our HELLO: it starts nobody if we cannot start, and counts our starts. It proved that it is here, and
 * it has no other port. If we were given one, it is that.
 */
static bool is_sound(const struct member *m, const struct go *go) {
	const struct roll_call *call = m->call;
	return !call->unable && go->port == m->port && (!call->port_from || go->port == call->port) &&
	       go->start >= call->starts && go->start <= call->max_restarts;
}

static int take_go(struct member *m, struct str payload) {
	struct go go;
	if (go_decode(payload, &go) < 0 || !is_sound(m, &go)) {
		return failed(m, unexpected);
	}
	m->end->port = go.port;
	m->end->moved = go.port != m->call->port;
	m->end->start = go.start;
	m->end->took_ms = go.took_ms;
	m->end->news = NULL;
	if ((go.flags & GO_STAY) && m->call->stay) {
		m->end->lines = arena_alloc(m->call->arena, sizeof(*m->end->lines));
		*m->end->lines = (struct kept_line){m->line, str_of(m->call->master), false, false, NULL};
		m->line.fd = -1;
	} else {
		line_send(&m->line, FRAME_HEARD, "", 0);
	}
	return 0;
}

static int take_no(struct member *m, struct str payload) {
	struct no no;
	if (no_decode(payload, &no) < 0) {
		return failed(m, unexpected);
	}
	if (no.kind == NO_SIGNAL) {
		// It may be started again.
		return failed(m, "the coordinator was ended by a signal");
	}
	m->end->result = (enum roll_result)no.kind;
	return err_set(&m->end->error, EPROTO, "%s says: %.*s", m->call->master, (int)no.text.len, no.text.p);
}

/**
 * The coordinator goes on for @ms: wait for its sentence, so that all end with the same. Our deadline
 * is our own: with a secret it is moved by at most as much again, and without by a little.
 */
static void move_deadline(struct member *m, uint64_t ms) {
	uint64_t theirs = clock_after(clock_after(clock_now_ms(), ms), SENTENCE_MS);
	uint64_t more = m->call->secret ? m->call->timeout_ms : SENTENCE_MS;
	uint64_t most = clock_after(m->own_deadline, more);
	m->watch.deadline = theirs > m->own_deadline ? clock_earlier(theirs, most) : m->own_deadline;
}

/** Returns 1 to go on; 0 for GO; -EPROTO for NO; -EAGAIN if the connection is of no use. */
static int take_frame(struct member *m, const struct frame *frame) {
	struct str payload = frame->payload;
	unsigned group = payload.len == 1 ? (unsigned char)payload.p[0] : N_FACT_GROUPS;
	if (frame->type == FRAME_GO) {
		return take_go(m, payload);
	}
	if (frame->type == FRAME_NO) {
		return take_no(m, payload);
	}
	const struct wait_news *news = frame->type == FRAME_WAIT ? keep_news(m, payload) : NULL;
	if (news) {
		move_deadline(m, news->left_ms == UINT32_MAX ? CLOCK_NEVER : news->left_ms);
		m->end->took_ms = news->since_ms;
		say_news(m);
		return 1;
	}
	if (frame->type == FRAME_TELL && group < N_FACT_GROUPS) {
		payload = m->call->facts->payload[group];
		return line_send(&m->line, FRAME_FACTS, payload.p, payload.len) < 0
			       ? failed(m, "it went, without a word")
			       : 1;
	}
	return failed(m, unexpected);
}

/** Read frames until the word to start. Returns as take_frame(), but 1; or -EINTR, -ETIME. */
static int listen_to(struct member *m) {
	int r = 1, late = 0;
	while (r > 0) {
		struct frame frame;
		int length = frame_length(m->bytes, m->n, sizeof(m->bytes));
		if (length < 0) {
			r = failed(m, "it sends what is not a frame");
		} else if (length == 0 || (size_t)length > m->n) {
			r = read_more(m, m->line.fd, length ? (size_t)length : 2, CLOCK_NEVER,
				      "the coordinator was there, and went");
			r = r < 0 ? r : 1;
		} else if (line_receive(&m->line, m->bytes, (size_t)length, &frame) < 0) {
			r = failed(m, "it sends frames with a wrong signature");
		} else {
			r = take_frame(m, &frame);
			m->n = 0;
			// What is already here counts, and GO may be behind what was read.
			late += clock_now_ms() >= m->watch.deadline;
			r = r > 0 && late > LINE_TURN ? -ETIME : r;
		}
	}
	return r;
}

/**
 * Take part on the connection @fd, which is that of m->line. Returns 0 for GO; -EPROTO for NO;
 * -EAGAIN, -EINTR, -ETIME.
 */
static int meet(struct member *m, int fd) {
	unsigned char greeting[GREETING_BYTES];
	uint32_t seconds = 0;
	const uint64_t until = clock_after(clock_now_ms(), PROOF_MS);
	int r = read_greeting(m, fd, until, greeting, &seconds);
	r = r < 0 ? r : send_meet(m, fd, greeting);
	r = r < 0 ? r : read_proof(m, until);
	r = r < 0 ? r : send_hello(m);
	if (r < 0) {
		return r;
	}
	m->heard = HEARD_COORDINATOR;
	m->end->reached = true;
	move_deadline(m, seconds == UINT32_MAX ? CLOCK_NEVER : (uint64_t)seconds * 1000);
	r = listen_to(m);
	if (r == -EINTR) {
		send_bye(m, BYE_SIGNAL);
	}
	if (r == -ETIME) {
		send_bye(m, BYE_DEADLINE);
		m->heard = HEARD_NO_RESULT;
	}
	m->went_at = clock_now_ms();
	m->watch.deadline = m->own_deadline;
	return r;
}

/** Try the port @port at @addresses. Returns as meet(). */
static int try_port(struct member *m, struct addresses *addresses, uint16_t port) {
	uint32_t which;
	for (uint32_t i = 0; i < addresses->n; i++) {
		address_set_port(&addresses->at[i], port);
	}
	int fd = connect_open(&m->watch, addresses, &which);
	if (fd < 0) {
		return fd;
	}
	m->line.fd = fd;
	m->port = port;
	// The coordinator's machine may go without a word, and another one calls.
	stream_keep(fd);
	int r = meet(m, fd);
	if (m->line.fd >= 0) {
		close(m->line.fd);
	}
	m->line.fd = -1;
	return r;
}

/** Try all ports once. @round counts. Returns as meet(), with the failure that tells most. */
static int try_ports(struct member *m, struct addresses *addresses, uint32_t round) {
	uint32_t n = m->n_ports, most = n;
	bool there = false;
	for (uint32_t i = 0; i < most; i++) {
		if (n > 1 && m->others[i] >= OTHERS_TIMES && round % OTHERS_ROUNDS) {
			continue;
		}
		m->heard = HEARD_NOTHING;
		int r = try_port(m, addresses, m->ports[i]);
		if (r != -EAGAIN) {
			return r;
		}
		bool here = m->heard == HEARD_COORDINATOR;
		m->others[i] = here || m->heard == HEARD_NOTHING ? 0 : m->others[i] + 1;
		there |= here;
		if (i == 0) {
			m->foreign = m->heard == HEARD_NO_ROLL_CALL;
			m->another_job = m->heard == HEARD_ANOTHER_JOB;
			// If another has the job's only port, the coordinator says so at one of these.
			most = m->others[0] ? ROLL_PORTS : n;
		}
		if (i == 0 || here) {
			m->why = m->watch.failure;
		}
	}
	m->heard = there ? HEARD_COORDINATOR : HEARD_NOTHING;
	m->watch.failure = m->why;
	roll_say(m->call, ROLL_DEBUG, "roll call: %s: %s", m->master, m->why.text);
	return -EAGAIN;
}

/** Pause before the first connection, so that thousands do not come at once. */
static int spread(struct member *m) {
	uint64_t most = clock_earlier((uint64_t)m->call->size * SPREAD_US / 1000, SPREAD_MAX_MS);
	return most ? watch_poll(&m->watch, -1, 0, m->watch.started + (m->random[1] >> 1) % most) : 0;
}

static int call_on(struct member *m) {
	if (getrandom(m->random, sizeof(m->random), 0) != sizeof(m->random)) {
		return err_set(&m->watch.failure, EIO, "there are no random numbers");
	}
	struct backoff backoff = backoff_begin(m->random[1]);
	struct addresses addresses = {0};
	uint64_t look_up_at = 0, now = m->watch.started;
	int r = spread(m);
	for (uint32_t round = 0; r == 0; round++) {
		if (now >= look_up_at) {
			r = lookup(&m->watch, m->call->master, m->call->port, &addresses);
			look_up_at = r < 0 ? 0 : clock_after(now, LOOKUP_AGAIN_MS);
		}
		m->heard = HEARD_NOTHING;
		r = r < 0 ? r : try_ports(m, &addresses, round);
		if (r != -EAGAIN) {
			return r;
		}
		if (m->heard == HEARD_COORDINATOR) {
			// It was there a moment ago: call again soon, perhaps at another address.
			backoff.limit_ms = BACKOFF_FIRST_MS;
			look_up_at = 0;
		}
		r = watch_poll(&m->watch, -1, 0, clock_after(clock_now_ms(), backoff_next_ms(&backoff)));
		now = clock_now_ms();
		if (r == 0 && now >= m->watch.deadline) {
			return -ETIME;
		}
	}
	return r;
}

/** What may be the reason that the coordinator was not reached, beside that it does not run. */
static const char *suspicion(const struct member *m) {
	const struct roll_call *call = m->call;
	// The kubelet writes a pod's own name into /etc/hosts: that it resolves here says nothing of the master's.
	if (call->pod && m->watch.failure.code == ENOENT) {
		return arena_format(call->arena, ", and is it ready: %s", roll_not_ready);
	}
	return call->wait_only ? ", or does it wait in an init container, where it has no name" : "";
}

/** The deadline passed without a word of the coordinator. */
static int give_up(struct member *m) {
	const struct roll_call *call = m->call;
	const char *why = m->watch.failure.text, *news = news_text(m), *master = m->master;
	const struct duration_text time = duration_text(call->timeout_ms);
	m->end->result = ROLL_ABSENT;
	if (m->foreign) {
		return err_set(&m->end->error, ETIMEDOUT,
			       "roll call: %s answers, but not as a roll call, for %s: the job has started "
			       "without this node, or %s was started without --for=all",
			       master, time.s, call->master);
	}
	if (m->another_job) {
		return err_set(
			&m->end->error, ETIMEDOUT,
			"roll call: the one on %s is of another job, or uses another secret, for %s; compare "
			"DISTINIT_SECRET and DISTINIT_JOB on both nodes",
			master, time.s);
	}
	if (m->heard == HEARD_NO_RESULT) {
		return err_set(&m->end->error, ETIMEDOUT,
			       "roll call: %s called the roll, but gave no result within %s%s%s; is it "
			       "running? %s=DURATION waits longer",
			       master, time.s, *news ? ": " : "", news, call->longer);
	}
	if (m->went_at) {
		return err_set(&m->end->error, ETIMEDOUT,
			       "roll call: %s was there, and went after %s%s%s; is it running? "
			       "%s=DURATION waits longer",
			       master, duration_text(m->went_at - m->watch.started).s, *why ? ": " : "", why,
			       call->longer);
	}
	return err_set(&m->end->error, ETIMEDOUT,
		       "roll call: %s could not be reached within %s%s%s; is it running%s? %s=DURATION waits "
		       "longer",
		       master, time.s, *why ? ": " : "", why, suspicion(m), call->longer);
}

int member_run(const struct roll_call *call, struct roll_end *end) {
	struct member m = {.call = call,
			   .end = end,
			   .master = endpoint_text(call->arena, call->master, call->port),
			   .line = {.fd = -1}};
	struct wait_for wait = {.host = call->master,
				.port = call->port,
				.timeout_ms = call->timeout_ms,
				.progress = say_progress,
				.progress_first_ms = call->rewrites ? STATUS_FIRST_MS : 0,
				.progress_ms = call->rewrites ? STATUS_MS : 0,
				.context = &m};
	end->result = ROLL_ERROR;
	m.n_ports = roll_ports(call, m.ports);
	int r = watch_begin(&m.watch, &wait);
	if (r == 0) {
		m.own_deadline = m.watch.deadline;
		m.news_at = m.watch.started + (call->verbose ? 0 : 60000);
		r = call_on(&m);
		r = r == -ETIME ? give_up(&m) : r;
		watch_done(&m.watch);
	}
	end->failure = m.watch.failure;
	end->signal = m.watch.signal;
	end->waited_ms = clock_now_ms() - m.watch.started;
	explicit_bzero(&m.line, sizeof(m.line));
	if (r == -EINTR) {
		end->result = ROLL_SIGNAL;
		return r;
	}
	if (r == 0) {
		if (m.warned) {
			roll_say(call, ROLL_WARNING, "roll call: %s is there, and all start, after %s",
				 m.master, duration_text(end->waited_ms).s);
		}
		end->result = ROLL_STARTED;
		return 0;
	}
	if (!end->error.text[0]) {
		err_set(&end->error, -r, "roll call: %s cannot be waited for: %s", m.master,
			m.watch.failure.text);
	}
	return r;
}
