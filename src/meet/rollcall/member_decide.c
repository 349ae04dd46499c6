// SPDX-License-Identifier: Apache-2.0

#include "rollcall/member_decide.h"

#include "base/clock.h"
#include "base/duration.h"

#include <errno.h>

/** How long addresses are used before the name is looked up again. */
#define LOOKUP_AGAIN_MS 10000

/** A port that does not send its greeting and its proof within this time is something else. */
#define GREETING_MS 2000

/**
 * A port that was something else OTHERS_TIMES times in a row is tried only in each OTHERS_ROUNDS-th round.
 */
#define OTHERS_TIMES  2
#define OTHERS_ROUNDS 5

/** A member may wait so much longer than its own deadline for the coordinator's message. */
#define SENTENCE_MS 1000

/** With --log=info, WAIT is printed at most once in this time. */
#define NEWS_MS 10000

/**
 * So that members do not connect at the same moment, they spread over so many microseconds for each, and at
 * most so many ms.
 */
#define SPREAD_US     50
#define SPREAD_MAX_MS 2000

/** One event while it is handled. */
struct decision {
	struct member *m;
	uint64_t now;
	struct member_todo todo;
};

static const char unexpected[] = "it sends what a coordinator does not send";

// --- the end

static void done(struct decision *d, int code) {
	d->m->state = MEMBER_DONE;
	d->todo.code = code;
	d->todo.what |= DO_CLOSE;
}

/**
 * A clause on another possible reason that the coordinator was not reached, for the question "is it
 * running?".
 */
static const char *possible_reason(const struct member *m) {
	const struct roll_call *call = m->call;
	// That this pod's own name resolves is no evidence against this: the kubelet writes it into
	// /etc/hosts.
	if (call->pod && m->failure.code == ENOENT) {
		return arena_format(call->arena, ", and is it ready: %s", roll_not_ready);
	}
	return call->wait_only ? ", or does it wait in an init container, where it has no name" : "";
}

const char *member_news(const struct member *m) {
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

/** The deadline has passed without a result: end, with what was learnt of the coordinator as the error. */
static void give_up(struct decision *d) {
	struct member *m = d->m;
	const struct roll_call *call = m->call;
	const char *why = m->failure.text, *news = member_news(m), *master = m->master;
	const struct duration_text time = duration_text(call->timeout_ms);
	struct err *error = &m->end->error;
	m->end->result = ROLL_ABSENT;
	if (m->foreign) {
		err_set(error, ETIMEDOUT,
			"roll call: %s answers, but not as a roll call, for %s: the job has started "
			"without this node, or %s was started without --for=all",
			master, time.s, call->master);
	} else if (m->another_job) {
		err_set(error, ETIMEDOUT,
			"roll call: the one on %s is of another job, or uses another secret, for %s; compare "
			"DISTINIT_SECRET and DISTINIT_JOB on both nodes",
			master, time.s);
	} else if (m->heard == HEARD_NO_RESULT) {
		err_set(error, ETIMEDOUT,
			"roll call: %s called the roll, but gave no result within %s%s%s; is it "
			"running? %s=DURATION waits longer",
			master, time.s, *news ? ": " : "", news, call->longer);
	} else if (m->gone_at) {
		err_set(error, ETIMEDOUT,
			"roll call: the connection to %s ended after %s%s%s; is it running? "
			"%s=DURATION waits longer",
			master, duration_text(m->gone_at - m->started).s, *why ? ": " : "", why,
			call->longer);
	} else {
		err_set(error, ETIMEDOUT,
			"roll call: %s could not be reached within %s%s%s; is it running%s? %s=DURATION "
			"waits "
			"longer",
			master, time.s, *why ? ": " : "", why, possible_reason(m), call->longer);
	}
	done(d, -ETIMEDOUT);
}

// --- round by round

static void pause_until(struct decision *d, uint64_t until) {
	d->m->state = MEMBER_PAUSES;
	d->todo.until = clock_earlier(until, d->m->deadline);
}

/** All ports were tried, or the name has no address: pause. */
static void end_round(struct decision *d) {
	struct member *m = d->m;
	if (m->heard == HEARD_COORDINATOR) {
		// The coordinator was there a moment ago: try again soon, perhaps at another address.
		m->backoff.limit_ms = BACKOFF_FIRST_MS;
		m->look_up_at = 0;
	}
	m->round++;
	pause_until(d, clock_after(d->now, backoff_next_ms(&m->backoff)));
}

/** Connect to the port at `index`, or one after it that is to be tried in this round. */
static void member_try_port(struct decision *d) {
	struct member *m = d->m;
	while (m->index < m->most && m->n_ports > 1 && m->others[m->index] >= OTHERS_TIMES &&
	       m->round % OTHERS_ROUNDS) {
		m->index++;
	}
	if (m->index < m->most) {
		m->heard = HEARD_NOTHING;
		m->state = MEMBER_CONNECTS;
		d->todo.port = m->ports[m->index];
		d->todo.until = m->deadline;
		return;
	}
	// Of all failures, report the one on the coordinator's port, or on the first.
	m->heard = m->found ? HEARD_COORDINATOR : HEARD_NOTHING;
	m->failure = m->why;
	d->todo.what |= DO_SHOW_WHY;
	end_round(d);
}

static void begin_ports(struct decision *d) {
	d->m->index = 0;
	d->m->most = d->m->n_ports;
	d->m->found = false;
	member_try_port(d);
}

static void begin_round(struct decision *d) {
	struct member *m = d->m;
	if (m->round && d->now >= m->deadline) {
		give_up(d);
	} else if (d->now >= m->look_up_at) {
		m->heard = HEARD_NOTHING;
		m->state = MEMBER_LOOKS_UP;
		m->look_up_at = clock_after(d->now, LOOKUP_AGAIN_MS);
		d->todo.until = m->deadline;
	} else {
		begin_ports(d);
	}
}

/** The current port has failed because of `failure`: try the next one. */
static void next_port(struct decision *d) {
	struct member *m = d->m;
	const bool here = m->heard == HEARD_COORDINATOR;
	if (m->state == MEMBER_WAITS) {
		m->gone_at = d->now;
	}
	m->others[m->index] = here || m->heard == HEARD_NOTHING ? 0 : m->others[m->index] + 1;
	m->found |= here;
	if (m->index == 0) {
		m->foreign = m->heard == HEARD_NO_ROLL_CALL;
		m->another_job = m->heard == HEARD_ANOTHER_JOB;
		// If something else has the job's only port, the coordinator listens on one of the others, to
		// send the error.
		m->most = m->others[0] ? ROLL_PORTS : m->n_ports;
	}
	if (m->index == 0 || here) {
		m->why = m->failure;
	}
	m->index++;
	d->todo.what |= DO_CLOSE;
	member_try_port(d);
}

static void port_failed(struct decision *d, enum heard heard, const char *why) {
	d->m->heard = heard;
	err_set(&d->m->failure, EAGAIN, "%s", why);
	next_port(d);
}

// --- meeting

static void await_proof(struct decision *d, enum member_state state) {
	if (state == MEMBER_CONNECTED) {
		d->m->extended = clock_earlier(clock_after(d->now, GREETING_MS), d->m->deadline);
	}
	d->m->state = state;
	d->todo.until = d->m->extended;
}

/**
 * The greeting has come: send MEET, the proof that we have the job's key. Send nothing else before the other
 * side's proof.
 */
static void take_greeting(struct decision *d, const unsigned char *bytes) {
	struct greeting greeting;
	if (greeting_decode(bytes, &greeting) < 0) {
		port_failed(d, HEARD_NO_ROLL_CALL, "it answers, but not as a roll call");
	} else if (greeting.lowest > ROLL_VERSION || greeting.highest < ROLL_VERSION) {
		err_set(&d->m->failure, EAGAIN,
			"its distinit speaks versions %u to %u of the roll call, and this one %u only "
			"(install the same distinit on all nodes)",
			greeting.lowest, greeting.highest, ROLL_VERSION);
		next_port(d);
	} else {
		d->m->seconds = greeting.seconds;
		d->todo.what |= DO_SEND_MEET;
		await_proof(d, MEMBER_MET);
	}
}

/** Whether the coordinator may use @port. */
static bool is_our_port(const struct member *m, uint16_t port, uint32_t *which) {
	for (*which = 0; *which < m->n_ports && m->ports[*which] != port; ++*which) {
	}
	return *which < m->n_ports;
}

/** A proxy passed our bytes on to the coordinator on @port: try that port directly. */
static void take_relayed_proof(struct decision *d, uint16_t port) {
	struct member *m = d->m;
	uint32_t which;
	if (is_our_port(m, port, &which)) {
		m->others[which] = 0;
	}
	m->heard = HEARD_ANOTHER_JOB;
	err_set(&m->failure, EAGAIN, "it passes on to a coordinator on port %u", port);
	next_port(d);
}

static void port_has_another_job(struct decision *d) {
	port_failed(d, HEARD_ANOTHER_JOB, "its roll call belongs to another job, or uses another secret");
}

/**
 * The coordinator goes on for @ms: wait for its message, so that all members exit with the same. With a
 * secret, our time is at most doubled; without, it is extended by SENTENCE_MS at most.
 */
static void extend(struct decision *d, uint64_t ms) {
	struct member *m = d->m;
	const uint64_t theirs = clock_after(clock_after(d->now, ms), SENTENCE_MS);
	const uint64_t more = m->call->secret ? m->call->timeout_ms : SENTENCE_MS;
	const uint64_t most = clock_after(m->deadline, more);
	m->extended = theirs > m->deadline ? clock_earlier(theirs, most) : m->deadline;
	d->todo.until = m->extended;
}

/** Handle the first frame, which must be PROOF. */
static void take_proof(struct decision *d, const struct frame *frame) {
	struct member *m = d->m;
	uint16_t port;
	if (frame->type != FRAME_PROOF || proof_decode(frame->payload, &port) < 0) {
		port_has_another_job(d);
	} else if (port != m->ports[m->index]) {
		take_relayed_proof(d, port);
	} else {
		m->heard = HEARD_COORDINATOR;
		m->state = MEMBER_WAITS;
		m->late = 0;
		m->end->reached = true;
		d->todo.what |= DO_SEND_HELLO;
		extend(d, m->seconds == UINT32_MAX ? CLOCK_NEVER : (uint64_t)m->seconds * 1000);
	}
}

// --- waiting for GO

/**
 * Whether a coordinator may send @go. It has our HELLO, so it does not start if we cannot start, and it
 * counts our starts. The port must be the one on which we have reached it and, if a port was given, that one.
 */
static bool is_sound(const struct member *m, const struct go *go) {
	const struct roll_call *call = m->call;
	return !call->unable && go->port == m->ports[m->index] &&
	       (!call->port_from || go->port == call->port) && go->start >= call->starts &&
	       go->start <= call->max_restarts;
}

static void take_go(struct decision *d, struct str payload) {
	struct roll_end *end = d->m->end;
	struct go go;
	if (go_decode(payload, &go) < 0 || !is_sound(d->m, &go)) {
		port_failed(d, HEARD_COORDINATOR, unexpected);
		return;
	}
	end->result = ROLL_STARTED;
	end->port = go.port;
	end->moved = go.port != d->m->call->port;
	end->start = go.start;
	end->took_ms = go.took_ms;
	end->news = NULL;
	d->todo.what |= (go.flags & GO_STAY) && d->m->call->stay ? DO_KEEP : DO_SEND_HEARD;
	done(d, 0);
}

static void take_no(struct decision *d, struct str payload) {
	struct member *m = d->m;
	struct no no;
	if (no_decode(payload, &no) < 0) {
		port_failed(d, HEARD_COORDINATOR, unexpected);
	} else if (no.kind == NO_SIGNAL) {
		// The coordinator may be started again.
		port_failed(d, HEARD_COORDINATOR, "the coordinator was ended by a signal");
	} else {
		m->end->result = (enum roll_result)no.kind;
		err_set(&m->end->error, EPROTO, "%s says: %.*s", m->call->master, (int)no.text.len,
			no.text.p);
		done(d, -EPROTO);
	}
}

static void take_wait(struct decision *d, struct str payload) {
	struct member *m = d->m;
	struct kept_news *kept = m->kept ? m->kept : arena_alloc(m->call->arena, sizeof(*kept));
	m->kept = kept;
	payload.p = memcpy(kept->bytes, payload.p, payload.len);
	if (wait_decode(payload, &kept->news) < 0) {
		m->end->news = NULL;
		port_failed(d, HEARD_COORDINATOR, unexpected);
		return;
	}
	m->end->news = &kept->news;
	m->end->took_ms = kept->news.since_ms;
	extend(d, kept->news.left_ms == UINT32_MAX ? CLOCK_NEVER : kept->news.left_ms);
	if (d->now >= m->news_at) {
		// Without --log=info first after a minute, because thousands of members may print this.
		m->news_at = d->now + (m->call->verbose ? NEWS_MS : d->now - m->started);
		d->todo.what |= DO_SHOW_NEWS;
	}
}

/** No result came in time: send BYE, and end. */
static void end_without_result(struct decision *d) {
	d->todo.what |= DO_SEND_BYE;
	d->todo.bye = BYE_DEADLINE;
	d->m->heard = HEARD_NO_RESULT;
	d->m->gone_at = d->now;
	give_up(d);
}

static void member_take_frame(struct decision *d, const struct frame *frame) {
	struct member *m = d->m;
	const struct str payload = frame->payload;
	const unsigned group = payload.len == 1 ? (unsigned char)payload.p[0] : N_FACT_GROUPS;
	if (frame->type == FRAME_GO) {
		take_go(d, payload);
	} else if (frame->type == FRAME_NO) {
		take_no(d, payload);
	} else if (frame->type == FRAME_WAIT) {
		take_wait(d, payload);
	} else if (frame->type == FRAME_ASK && group < N_FACT_GROUPS) {
		d->todo.group = group;
		d->todo.what |= DO_SEND_FACTS;
	} else {
		port_failed(d, HEARD_COORDINATOR, unexpected);
	}
	if (m->state == MEMBER_WAITS) {
		// After the deadline, frames that have already come still count: GO may be among them.
		m->late += d->now >= m->extended;
		if (m->late > LINE_TURN) {
			end_without_result(d);
		}
	}
}

static void take_gone(struct decision *d) {
	switch (d->m->state) {
	case MEMBER_CONNECTED:
		port_failed(d, HEARD_NOTHING, "it accepts connections, but closes them at once");
		break;
	case MEMBER_MET:
		port_has_another_job(d);
		break;
	default:
		port_failed(d, d->m->heard, "the coordinator has closed the connection");
	}
}

/** The time @until has come. */
static void take_due(struct decision *d) {
	switch (d->m->state) {
	case MEMBER_CONNECTED:
		port_failed(d, HEARD_NO_ROLL_CALL, "it answers, but not as a roll call");
		break;
	case MEMBER_MET:
		port_has_another_job(d);
		break;
	case MEMBER_WAITS:
		end_without_result(d);
		break;
	default:
		begin_round(d);
	}
}

struct member_todo member_decide(struct member *m, const struct member_event *event, uint64_t now) {
	struct decision d = {.m = m, .now = now, .todo = {.until = m->extended}};
	switch (event->what) {
	case MEMBER_DUE:
		take_due(&d);
		break;
	case MEMBER_LOOKED_UP:
		if (event->code < 0) {
			m->look_up_at = 0;
			end_round(&d);
		} else {
			begin_ports(&d);
		}
		break;
	case MEMBER_CONNECTION:
		if (event->code < 0) {
			next_port(&d);
		} else {
			await_proof(&d, MEMBER_CONNECTED);
		}
		break;
	case MEMBER_GREETING:
		take_greeting(&d, event->greeting);
		break;
	case MEMBER_FRAME:
		if (m->state == MEMBER_MET) {
			take_proof(&d, &event->frame);
		} else {
			member_take_frame(&d, &event->frame);
		}
		break;
	case MEMBER_NO_FRAME:
		if (m->state == MEMBER_MET) {
			port_has_another_job(&d);
		} else {
			port_failed(&d, m->heard, event->text);
		}
		break;
	case MEMBER_GONE:
		take_gone(&d);
		break;
	case MEMBER_UNSENT:
		port_failed(&d, m->heard, "it closed the connection before anything was sent");
		break;
	case MEMBER_ASKED_TO_END:
		d.todo.bye = BYE_SIGNAL;
		d.todo.what |= m->state == MEMBER_WAITS ? DO_SEND_BYE : 0;
		m->end->result = ROLL_SIGNAL;
		done(&d, -EINTR);
		break;
	}
	return d.todo;
}

struct member_todo member_begin(struct member *m, uint64_t now, uint64_t deadline, uint64_t random) {
	struct decision d = {.m = m, .now = now};
	const uint64_t most = clock_earlier((uint64_t)m->call->size * SPREAD_US / 1000, SPREAD_MAX_MS);
	m->started = now;
	m->deadline = deadline;
	m->news_at = now + (m->call->verbose ? 0 : 60000);
	m->backoff = backoff_begin(random);
	// Pause before the first connection, so that thousands of members do not connect at once.
	pause_until(&d, now + (most ? (random >> 1) % most : 0));
	return d.todo;
}
