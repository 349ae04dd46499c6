// SPDX-License-Identifier: Apache-2.0

/** What a member makes of what happens: no system call is needed for that, and no time passes. */

#include "rollcall/member_decide.h"

#include "base/clock.h"
#include "check.h"
#include "fixture.h"
#include "wire/wire.h"

#include <errno.h>

#define PORT 29500

static struct arena arena;

static void say_nothing(void *context, enum roll_level level, const char *text) {
	(void)context, (void)level, (void)text;
}

static struct member_todo happens(struct member *m, enum member_what what, uint64_t now) {
	return member_decide(m, &(struct member_event){.what = what}, now);
}

static struct member_todo hears(struct member *m, enum frame_type type, const void *payload, size_t n,
				uint64_t now) {
	const struct member_event event = {.what = MEMBER_FRAME, .frame = {type, {payload, n}}};
	return member_decide(m, &event, now);
}

/** A member that has met a coordinator at @now, which gives up in @seconds. */
static struct member meet(const struct roll_call *call, struct roll_end *end, uint32_t seconds,
			  uint64_t now) {
	unsigned char greeting[GREETING_BYTES];
	struct member m = {.call = call, .end = end, .master = "h0:29500", .n_ports = 2};
	const struct member_event greeted = {.what = MEMBER_GREETING, .greeting = greeting};
	greeting_encode(&(struct greeting){ROLL_VERSION, ROLL_VERSION, seconds, {0}}, greeting);
	*end = (struct roll_end){.result = ROLL_ERROR};
	m.ports[0] = PORT;
	m.ports[1] = PORT + 1;
	struct member_todo todo = member_begin(&m, now, now + call->timeout_ms, 7);
	check(m.state == MEMBER_PAUSES && todo.until == now);
	happens(&m, MEMBER_DUE, now);
	check(m.state == MEMBER_LOOKS_UP);
	todo = happens(&m, MEMBER_LOOKED_UP, now);
	check(m.state == MEMBER_CONNECTS && todo.port == PORT && todo.until == now + call->timeout_ms);
	todo = happens(&m, MEMBER_CONNECTION, now);
	check(m.state == MEMBER_CONNECTED && todo.until == now + 2000);
	todo = member_decide(&m, &greeted, now);
	check(m.state == MEMBER_MET && todo.what == DO_SEND_MEET && todo.until == now + 2000);
	return m;
}

static struct member_todo prove(struct member *m, uint16_t port, uint64_t now) {
	unsigned char payload[HELLO_MAX];
	return hears(m, FRAME_PROOF, payload, proof_encode(port, payload), now);
}

/** All goes well. */
static void test_start(const struct roll_call *call) {
	struct roll_end end;
	struct member m = meet(call, &end, 60, 1000);
	unsigned char payload[HELLO_MAX], group = FACTS_ENV;
	struct member_todo todo = prove(&m, PORT, 1000);
	check(m.state == MEMBER_WAITS && todo.what == DO_SEND_HELLO && end.reached);
	// Without a secret the coordinator's time is ours for a second only.
	check(todo.until == 1000 + call->timeout_ms + 1000);
	todo = hears(&m, FRAME_ASK, &group, 1, 2000);
	check(m.state == MEMBER_WAITS && todo.what == DO_SEND_FACTS && todo.group == FACTS_ENV);
	todo = hears(&m, FRAME_GO, payload, go_encode(&(struct go){.port = PORT}, payload), 3000);
	check(m.state == MEMBER_DONE && todo.what == (DO_SEND_HEARD | DO_CLOSE) && todo.code == 0);
	check(end.result == ROLL_STARTED && end.port == PORT && !end.moved);
}

/** Whoever knows the key passes on to a coordinator on another port: it is met there, and told nothing here. */
static void test_detour(const struct roll_call *call) {
	struct roll_end end;
	struct member m = meet(call, &end, 60, 1000);
	m.others[1] = 5;
	const struct member_todo todo = prove(&m, PORT + 1, 1000);
	check(m.state == MEMBER_CONNECTS && todo.what == DO_CLOSE && todo.port == PORT + 1);
	check(m.others[1] == 0 && !end.reached);
	check_part(m.failure.text, "it passes on to a coordinator on port 29501", "why");
}

/** It has proved itself, and goes: a short pause, and the name is looked up again. With TERM in it, all ends. */
static void test_gone(const struct roll_call *call) {
	struct roll_end end;
	struct member m = meet(call, &end, 60, 1000);
	prove(&m, PORT, 1000);
	struct member_todo todo = happens(&m, MEMBER_GONE, 2000);
	check(m.state == MEMBER_CONNECTS && todo.what == DO_CLOSE && todo.port == PORT + 1);
	todo = member_decide(&m, &(struct member_event){.what = MEMBER_CONNECTION, .code = -EAGAIN}, 2000);
	check(m.state == MEMBER_PAUSES && todo.until > 2000 && todo.until <= 2100 && m.gone_at == 2000);
	happens(&m, MEMBER_DUE, todo.until);
	check(m.state == MEMBER_LOOKS_UP);
	todo = happens(&m, MEMBER_ASKED_TO_END, 2200);
	check(m.state == MEMBER_DONE && todo.code == -EINTR && !(todo.what & DO_SEND_BYE));
	check(end.result == ROLL_SIGNAL);
}

/** No result: what has come already counts, for a while. */
static void test_late(const struct roll_call *call) {
	struct roll_end end;
	struct member m = meet(call, &end, 1, 1000);
	unsigned char payload[HELLO_MAX];
	const struct wait_news news = {.present = 1, .size = 2, .left_ms = 0};
	const size_t n = wait_encode(&news, payload);
	const uint64_t late = prove(&m, PORT, 1000).until;
	struct member_todo todo = {0};
	check(late == 1000 + call->timeout_ms);
	for (unsigned i = 0; i <= LINE_TURN; i++) {
		check(m.state == MEMBER_WAITS);
		// Its word moves our deadline once, by a second.
		todo = hears(&m, FRAME_WAIT, payload, n, late + 1000);
	}
	check(m.state == MEMBER_DONE && todo.what & DO_SEND_BYE && todo.bye == BYE_DEADLINE);
	check(todo.code == -ETIMEDOUT && end.result == ROLL_ABSENT);
	check_part(end.error.text, "h0:29500 called the roll, but gave no result within 5s", "why");
}

int main(void) {
	static struct cluster cluster;
	arena = fixture_arena();
	const struct roll_call call = {.arena = &arena,
				       .cluster = &cluster,
				       .rank = 1,
				       .size = 2,
				       .noun = "nodes",
				       .master = "h0",
				       .port = PORT,
				       .node = "h1",
				       .timeout_ms = 5000,
				       .longer = "--wait",
				       .say = say_nothing};
	test_start(&call);
	test_detour(&call);
	test_gone(&call);
	test_late(&call);
	return check_done();
}
