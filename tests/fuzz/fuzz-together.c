// SPDX-License-Identifier: Apache-2.0

/**
 * The connections that stay (--together), on the coordinator's side or on a member's: the others send
 * what the input says, raw or signed; they leave; our own program ends, or gets TERM.
 */

#include "together/together.h"

#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#define SIZE 3

static uint32_t n_reports;

static void count_report(struct together *t, const struct ended *first) {
	struct buf out = BUF(t->call->arena);
	together_json(first, &(struct json){.out = &out});
	HOLDS(first->rank < SIZE);
	n_reports++;
}

static void check_state(const struct together *t) {
	uint32_t open = 0;
	for (uint32_t i = 0; i < t->n; i++) {
		open += t->lines[i].line.fd >= 0;
	}
	HOLDS(open == t->open);
	HOLDS(t->observer.busy == (t->observer.end && (t->open || t->settle_at != CLOCK_NEVER)));
	HOLDS(t->settle_at == CLOCK_NEVER || (t->call->rank == 0 && !t->decided));
	HOLDS(n_reports == (t->first != NULL));
	HOLDS(t->decided || !t->first);
	// A member needs the connection no longer; a coordinator waits until the others have closed.
	HOLDS(!t->decided || t->call->rank == 0 || !open);
	HOLDS(!t->observer.status || t->decided);
	HOLDS(!t->observer.again || (t->decided && t->max_restarts && !t->asked_to_end));
	HOLDS(!t->observer.busy || t->observer.due_at != CLOCK_NEVER);
}

/** The other side of each connection signs as this. */
static void connect_lines(struct together *t, struct roll_end *end, struct line others[SIZE]) {
	static const unsigned char greeting[GREETING_BYTES], nonce[NONCE_BYTES];
	bool leader = t->call->rank == 0;
	for (uint32_t i = 0; i < (leader ? SIZE : 1); i++) {
		struct line *line = &end->lines[i].line;
		int fds[2] = {-1, -1};
		if (!(leader && i == 0) &&
		    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) < 0) {
			abort();
		}
		line_begin(line, fds[0], leader ? 'd' : 'm', &t->call->key, greeting, nonce);
		line_begin(&others[i], fds[1], leader ? 'm' : 'd', &t->call->key, greeting, nonce);
		end->lines[i].host = STR("host");
	}
}

/** Send @data as the payload of a signed frame of @type; with @whole, a right one that has it as text. */
static void send_frame(struct line *line, enum frame_type type, bool whole, const uint8_t *data, size_t n) {
	unsigned char payload[HELLO_MAX];
	if (whole && n > 2 && data[2] == FRAME_DIED) {
		const struct died died = {.ago_ms = data[1],
					  .status = data[0],
					  .what = (uint8_t)(n > 3 ? data[3] & 3 : 0),
					  .text = {(const char *)data, n % DIED_TEXT_MAX}};
		line_send(line, FRAME_DIED, payload, died_encode(&died, payload));
	} else if (whole) {
		const struct ended ended = {.why = n ? data[0] % 4 : 0,
					    .status = n > 1 ? data[1] : 0,
					    .rank = n > 2 ? data[2] : 1,
					    .host = STR(""),
					    .text = {(const char *)data, n},
					    .again = n > 3 ? data[3] % (AGAIN_IDLE + 1) : 0,
					    .then = STR("ending")};
		line_send(line, type, payload, ended_encode(&ended, payload));
	} else {
		line_send(line, type, data, n);
	}
}

/** Each piece: whose turn it is and what happens; a length, and as many bytes. */
static void play(struct together *t, struct line others[SIZE], const uint8_t *data, size_t size) {
	static struct workload_end end;
	while (size >= 2) {
		struct line *line = &others[t->n > 1 ? 1 + (data[0] & 1) : 0];
		size_t n = data[1] < size - 2 ? data[1] : size - 2;
		enum frame_type type = data[0] & 2 ? FRAME_END : FRAME_ENDED;
		switch (data[0] >> 2 & 7) {
		case 0:
		case 1:
			(void)!send(line->fd, data + 2, n, MSG_NOSIGNAL);
			break;
		case 2:
		case 3:
			send_frame(line, type, data[0] & 4, data + 2, n);
			break;
		case 4:
			shutdown(line->fd, SHUT_WR);
			break;
		case 5:
			if (!t->observer.end) {
				end.status = data[1];
				t->observer.end = &end;
				observe(&t->observer, EVENT_ENDED, 0, 0);
			}
			break;
		case 6:
			if (!observe(&t->observer, EVENT_SIGNAL, SIGTERM, 0)) {
				observe(&t->observer, EVENT_FORWARDED, SIGTERM, SIGTERM);
			}
			break;
		default:
			observe(&t->observer, EVENT_SIGNAL, SIGINT, 0);
			break;
		}
		observe(&t->observer, EVENT_WAKE, 0, 0);
		check_state(t);
		data += 2 + n;
		size -= 2 + n;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static struct cluster cluster;
	struct arena arena = fuzz_arena();
	struct kept_line lines[SIZE] = {0};
	struct line others[SIZE];
	struct roll_call call = {.arena = &arena,
				 .cluster = &cluster,
				 .size = SIZE,
				 .rank = size ? data[0] & 1 : 0,
				 .port = 9};
	struct roll_end end = {.lines = lines};
	struct together t = {
		.call = &call, .relays = size && data[0] & 2, .linger_ms = 1000, .report = count_report};
	struct err err;
	t.max_restarts = size && data[0] & 8;
	t.limit_at = CLOCK_NEVER;
	n_reports = 0;
	key_of_job(STR(""), "fuzz", &call.key);
	connect_lines(&t, &end, others);
	HOLDS(together_begin(&t, &call, &end, &err) == 0);
	play(&t, others, data + (size > 0), size - (size > 0));
	for (uint32_t i = 0; i < t.n; i++) {
		if (lines[i].line.fd >= 0) {
			close(lines[i].line.fd);
		}
		if (others[i].fd >= 0) {
			close(others[i].fd);
		}
	}
	close(t.observer.fds[0].fd);
	arena_done(&arena);
	return 0;
}
