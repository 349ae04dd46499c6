// SPDX-License-Identifier: Apache-2.0

#include "rollcall/line.h"

#include "check.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

// As tests/rollcall/roll.py makes them, which is another implementation. secret.bats compares them.
// clang-format off
static const char job_hex[] = "67d4efda99c03849b3490456e93894189eda95e2ab501ff0f6d9cd4770b771b4";
static const char greeting_hex[] = "44495354524f4c4c0404000058020000000102030405060708090a0b0c0d0e0f";
static const char meet_hex[] = "101112131415161718191a1b1c1d1e1f5e7c043ffccd99005b0bffd9dee72fdd";
static const char member_key_hex[] = "499ad4448d5e01203bf9185f68de8c0807d257c7fe65c7c855aa6fdd5734bea9";
static const char desk_key_hex[] = "99f9223975c12eda42f711f2032561224618f90cc162595fa3ee9abe8c679f8b";
static const char proof_hex[] = "160014041a5921dd1f167aa55d08b5332bd189e01bd1";
static const char hello_hex[] =
	"64000104c6fac56bfed5e0c2ca73ee3ae9b3142219b3a58260dcea89b2273ba4683c65e8dc7c9d74abea57275ed891b7858cac476babd2084211b114b3cac4cf34423bb6662e6bef3913b0b738d81ccab0aa4dc78c6d9060a409ddd49698cca24b182a67";
static const char go_hex[] =
	"1f001204221661382b92f1a91158e1fe32434f9f99089610a8577f2f9b279c";
// clang-format on

static size_t bytes_of(const char *hex, unsigned char *out) {
	size_t n = strlen(hex) / 2;
	for (size_t i = 0; i < n; i++) {
		char digits[] = {hex[2 * i], hex[2 * i + 1], '\0'};
		out[i] = (unsigned char)strtoul(digits, NULL, 16);
	}
	return n;
}

static const char *hex_of(const void *bytes, size_t n) {
	static char text[4 * HELLO_MAX];
	for (size_t i = 0; i < n; i++) {
		snprintf(text + 2 * i, 3, "%02x", ((const unsigned char *)bytes)[i]);
	}
	text[2 * n] = '\0';
	return text;
}

/** Both sides of one connection. */
struct pair {
	struct line member, coordinator;
	int fds[2];
};

static const struct hello hello = {
	.rank = 1,
	.size = 2,
	.incarnation = 0x1122334455667788,
	.starts = 7,
	.clock_ms = 1795316400000,
	.left_ms = 600000,
	.digest = {1, 2, 3, 4, 5},
	.host = {"n2", 2},
	.node = {"n2", 2},
};

static struct pair begin(void) {
	struct pair p;
	struct key job;
	struct greeting greeting = {.lowest = 4, .highest = 4, .seconds = 600};
	unsigned char bytes[GREETING_BYTES], meet[MEET_BYTES], whole[SHA256_BYTES];
	for (unsigned char i = 0; i < NONCE_BYTES; i++) {
		greeting.nonce[i] = i;
		meet[i] = (unsigned char)(0x10 + i);
	}
	key_make(STR("correct horse"), &job);
	key_hmac(&job, (struct str){"distinit roll call 4", 21}, STR("slurm:4711.0"), whole);
	check_text(hex_of(whole, sizeof(whole)), job_hex, "the job's key");
	key_of_job(STR("correct horse"), "slurm:4711.0", &job);
	greeting_encode(&greeting, bytes);
	check_text(hex_of(bytes, sizeof(bytes)), greeting_hex, "greeting");
	key_proof(&job, bytes, meet, meet + NONCE_BYTES);
	check_text(hex_of(meet, sizeof(meet)), meet_hex, "MEET");
	check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, p.fds) == 0);
	line_begin(&p.member, p.fds[0], 'm', &job, bytes, meet);
	line_begin(&p.coordinator, p.fds[1], 'd', &job, bytes, meet);
	check_text(hex_of(p.member.send_key, SEAL_BYTES), member_key_hex, "the member's key");
	check_text(hex_of(p.member.receive_key, SEAL_BYTES), desk_key_hex, "the coordinator's key");
	check(memcmp(p.member.send_key, p.coordinator.receive_key, SEAL_BYTES) == 0);
	return p;
}

static void end(struct pair *p) {
	close(p->fds[0]);
	close(p->fds[1]);
}

/** Send a frame; it must be @hex. Returns its length; the bytes are in @got. */
static size_t send_as(struct line *from, int to, enum frame_type type, const unsigned char *payload, size_t n,
		      const char *hex, unsigned char *got) {
	check(line_send(from, type, payload, n) == 0);
	ssize_t length = read(to, got, FRAME_MAX);
	check_text(hex_of(got, length > 0 ? (size_t)length : 0), hex, "frame %d", (int)type);
	return length > 0 ? (size_t)length : 0;
}

static void check_vector(void) {
	struct pair p = begin();
	unsigned char payload[HELLO_MAX], got[FRAME_MAX], again[FRAME_MAX];
	struct frame frame;
	struct hello back;
	uint16_t port;
	size_t n = proof_encode(29500, payload);
	n = send_as(&p.coordinator, p.fds[0], FRAME_PROOF, payload, n, proof_hex, got);
	check(line_receive(&p.member, got, n, &frame) == 0 && frame.type == FRAME_PROOF);
	check(proof_decode(frame.payload, &port) == 0 && port == 29500);
	n = hello_encode(&hello, payload);
	n = send_as(&p.member, p.fds[1], FRAME_HELLO, payload, n, hello_hex, got);
	check(line_receive(&p.coordinator, got, n, &frame) == 0 && frame.type == FRAME_HELLO);
	check(hello_decode(frame.payload, &back) == 0);
	check(back.rank == 1 && back.size == 2 && back.incarnation == hello.incarnation &&
	      back.digest[4] == 5);
	check(back.clock_ms == hello.clock_ms && back.starts == 7 && back.left_ms == 600000);
	check(str_is(back.host, "n2") && str_is(back.node, "n2"));
	const struct go go = {.port = 29500, .flags = GO_STAY, .start = 7, .took_ms = 1234};
	n = send_as(&p.coordinator, p.fds[0], FRAME_GO, payload, go_encode(&go, payload), go_hex, got);
	memcpy(again, got, n);
	struct go told;
	check(line_receive(&p.member, got, n, &frame) == 0 && frame.type == FRAME_GO);
	check(go_decode(frame.payload, &told) == 0 && told.took_ms == 1234 && told.start == 7);
	// The same bytes again are a replay: the counter went on.
	check(line_receive(&p.member, again, n, &frame) == -EBADMSG);
	end(&p);
}

/** A frame is taken from the kernel only once it is whole. */
static void check_take(void) {
	struct pair p = begin();
	unsigned char bytes[FRAME_MAX], got[FRAME_MAX];
	struct frame frame;
	check(line_send(&p.member, FRAME_BYE, "\1", 2) == 0 && line_send(&p.member, FRAME_BYE, "\2", 2) == 0);
	ssize_t n = read(p.fds[1], bytes, sizeof(bytes));
	check(n == 2 * (FRAME_MIN + 2));
	for (ssize_t i = 0; i < n; i++) {
		check(line_take(&p.coordinator, got, sizeof(got), false, &frame) == -EAGAIN);
		check(write(p.fds[0], bytes + i, 1) == 1);
		if ((i + 1) % (FRAME_MIN + 2) == 0) {
			check(line_take(&p.coordinator, got, sizeof(got), false, &frame) == 0);
			check(frame.payload.len == 2 && frame.payload.p[0] == 1 + i / (FRAME_MIN + 2));
		}
	}
	check(write(p.fds[0], bytes, FRAME_MIN) == FRAME_MIN);
	check(line_take(&p.coordinator, got, sizeof(got), false, &frame) == -EAGAIN);
	check(line_take(&p.coordinator, got, sizeof(got), true, &frame) == -ENODATA);
	check(write(p.fds[0], bytes, 2) == 2);
	check(line_take(&p.coordinator, got, sizeof(got), false, &frame) == -EPROTO);
	check(write(p.fds[0], "\377\377", 2) == 2);
	check(line_take(&p.coordinator, got, sizeof(got), false, &frame) == -EPROTO);
	end(&p);
	p = begin();
	close(p.fds[0]);
	check(line_take(&p.coordinator, got, sizeof(got), false, &frame) == -ENODATA);
	close(p.fds[1]);
	check(line_take(&p.coordinator, got, sizeof(got), false, &frame) == -EBADF);
}

/** What ends all: as it was sent, and nothing that is cut, longer, or unknown. */
static void check_ended(void) {
	const struct ended first = {.why = END_FAILED,
				    .status = 137,
				    .rank = 7,
				    .host = STR("n7"),
				    .text = STR("killed by SIGKILL"),
				    .again = AGAIN_YES,
				    .pause_ms = 60000,
				    .then = STR("ending")};
	unsigned char payload[HELLO_MAX];
	struct ended back;
	size_t n = ended_encode(&first, payload);
	check(n == 6 + 1 + 2 + 1 + 17 + 5 + 1 + 6);
	for (size_t length = 0; length <= n + 1; length++) {
		int expected = length == n ? 0 : -EPROTO;
		payload[n] = 0;
		check(ended_decode((struct str){(char *)payload, length}, &back) == expected);
	}
	check(ended_decode((struct str){(char *)payload, n}, &back) == 0);
	check(back.why == END_FAILED && back.status == 137 && back.rank == 7 && str_is(back.host, "n7") &&
	      str_is(back.text, "killed by SIGKILL") && back.again == AGAIN_YES && back.pause_ms == 60000 &&
	      str_is(back.then, "ending"));
	payload[0] = END_NO_PROGRESS + 1;
	check(ended_decode((struct str){(char *)payload, n}, &back) == -EPROTO);
}

/** The same for the process that died. */
static void check_died(void) {
	const struct died first = {
		.ago_ms = 70000, .status = 137, .what = DIED_PROGRESS, .text = STR("process 7 (sh) died")};
	unsigned char payload[HELLO_MAX];
	struct died back;
	size_t n = died_encode(&first, payload);
	for (size_t length = 0; length <= n + 1; length++) {
		payload[n] = 0;
		check(died_decode((struct str){(char *)payload, length}, &back) ==
		      (length == n ? 0 : -EPROTO));
	}
	check(died_decode((struct str){(char *)payload, n}, &back) == 0 && back.ago_ms == 70000);
	check(back.status == 137 && back.what == DIED_PROGRESS && str_is(back.text, "process 7 (sh) died"));
	static const char longer[DIED_TEXT_MAX + 1];
	n = died_encode(&(struct died){.text = {longer, sizeof(longer)}}, payload);
	check(died_decode((struct str){(char *)payload, n}, &back) == -EPROTO);
}

/** What no member is: a rank that its job does not have, or a state that is none. */
static void check_hello(void) {
	unsigned char payload[HELLO_MAX];
	struct hello h = hello, back;
	h.able = ABLE_ASKED_TO_END;
	h.why_not = STR("SIGTERM");
	size_t n = hello_encode(&h, payload);
	check(hello_decode((struct str){(char *)payload, n}, &back) == 0 && back.able == ABLE_ASKED_TO_END &&
	      str_is(back.why_not, "SIGTERM"));
	h.able = ABLE_ASKED_TO_END + 1;
	n = hello_encode(&h, payload);
	check(hello_decode((struct str){(char *)payload, n}, &back) == -EPROTO);
	h = hello;
	h.rank = h.size;
	n = hello_encode(&h, payload);
	check(hello_decode((struct str){(char *)payload, n}, &back) == -EPROTO);
}

/** A frame with one bit flipped is refused, whichever it is. */
static void check_flipped(void) {
	struct pair p = begin();
	unsigned char whole[200], got[200];
	struct frame frame;
	size_t n = bytes_of(hello_hex, whole);
	unsigned taken = 0;
	for (size_t i = 0; i <= n * 8; i++) {
		struct line line = p.coordinator;
		memcpy(got, whole, n);
		if (i < n * 8) {
			got[i / 8] ^= (unsigned char)(1 << i % 8);
			taken += line_receive(&line, got, n, &frame) == 0;
		} else {
			check(line_receive(&line, got, n, &frame) == 0);
		}
	}
	checkf(taken == 0, "%u flipped bits were not seen", taken);
	end(&p);
}

/** A payload that is cut, or has a byte too many, is refused. */
static void check_cut(void) {
	unsigned char payload[HELLO_MAX];
	struct hello h;
	struct wait_news news = {.n = WAIT_NAMES}, told;
	struct go go;
	struct no no = {.kind = NO_DEADLINE, .text = STR("why")}, not ;
	enum bye_why bye;
	size_t n = hello_encode(&hello, payload);
	payload[n] = 0;
	unsigned wrong = 0;
	for (size_t i = 0; i <= n + 1; i++) {
		wrong += (hello_decode((struct str){(char *)payload, i}, &h) == 0) != (i == n);
	}
	for (uint32_t i = 0; i < WAIT_NAMES; i++) {
		news.at[i].rank = i;
		news.at[i].host = STR("node-with-a-name");
	}
	n = wait_encode(&news, payload);
	payload[n] = 0;
	for (size_t i = 0; i <= n + 1; i++) {
		wrong += (wait_decode((struct str){(char *)payload, i}, &told) == 0) != (i == n);
	}
	check(wait_decode((struct str){(char *)payload, n}, &told) == 0 &&
	      str_is(told.at[7].host, "node-with-a-name"));
	n = go_encode(&(struct go){.port = 1}, payload);
	payload[n] = 0;
	for (size_t i = 0; i <= n + 1; i++) {
		wrong += (go_decode((struct str){(char *)payload, i}, &go) == 0) != (i == n);
	}
	n = no_encode(&no, payload);
	payload[n] = 0;
	for (size_t i = 0; i <= n + 1; i++) {
		wrong += (no_decode((struct str){(char *)payload, i}, &not ) == 0) != (i == n);
	}
	n = bye_encode(BYE_DEADLINE, payload);
	payload[n] = 0;
	for (size_t i = 0; i <= n + 1; i++) {
		wrong += (bye_decode((struct str){(char *)payload, i}, &bye) == 0) != (i == n);
	}
	checkf(wrong == 0, "%u cut payloads", wrong);
	payload[0] = BYE_DEADLINE + 1;
	check(bye_decode((struct str){(char *)payload, 1}, &bye) == -EPROTO);
	check(go_decode((struct str){(char *)payload, go_encode(&(struct go){0}, payload)}, &go) == -EPROTO);
}

/** Names as long as they may be leave room for the rest. */
static void check_longest(void) {
	static char name[300];
	memset(name, 'a', sizeof(name));
	unsigned char payload[HELLO_MAX];
	struct hello h = hello, back;
	h.host = h.node = h.why_not = (struct str){name, sizeof(name)};
	size_t n = hello_encode(&h, payload);
	check(n + FRAME_MIN <= HELLO_MAX && hello_decode((struct str){(char *)payload, n}, &back) == 0);
	check(back.host.len == 255);
	struct wait_news news = {.n = WAIT_NAMES}, told;
	for (uint32_t i = 0; i < WAIT_NAMES; i++) {
		news.at[i].host = (struct str){name, i == 0 ? 99 : sizeof(name)};
	}
	n = wait_encode(&news, payload);
	check(n + FRAME_MIN <= HELLO_MAX && wait_decode((struct str){(char *)payload, n}, &told) == 0);
	check(told.at[0].host.len == 99 && told.at[1].host.len == 0);
	struct no no = {.kind = NO_ERROR, .text = {name, sizeof(name)}}, not ;
	n = no_encode(&no, payload);
	check(no_decode((struct str){(char *)payload, n}, &not ) == 0 && not .text.len == sizeof(name));
	static char most[NO_TEXT_MAX + 1];
	memset(most, 'a', sizeof(most));
	no.text = (struct str){most, sizeof(most)};
	n = no_encode(&no, payload);
	check(n + FRAME_MIN <= HELLO_MAX && no_decode((struct str){(char *)payload, n}, &not ) == 0);
	check(not .text.len == NO_TEXT_MAX);
}

static void check_length(void) {
	check(frame_length((const unsigned char *)"\x14", 1, FRAME_MAX) == 0);
	check(frame_length((const unsigned char *)"\x14\0", 2, FRAME_MAX) == 20);
	check(frame_length((const unsigned char *)"\x13\0", 2, FRAME_MAX) == -EPROTO);
	check(frame_length((const unsigned char *)"\0\x40", 2, FRAME_MAX) == 16384);
	check(frame_length((const unsigned char *)"\1\x40", 2, FRAME_MAX) == -EPROTO);
	check(frame_length((const unsigned char *)"\1\4", 2, HELLO_MAX) == -EPROTO);
}

static void check_torch(void) {
	static const unsigned char new[] = "\0\xce\xf7\x85\x3c rest", bare[] = "\xce\xf7\x85\x3c";
	static const unsigned char old[] = "\3\5\0\0\0\0\0\0\0init/";
	check(torch_like(new, 5) == 1 && torch_like(new, 11) == 1 && torch_like(new, 4) == 0);
	check(torch_like(bare, 4) == 1 && torch_like(bare, 3) == 0);
	check(torch_like(old, 14) == 1 && torch_like(old, 9) == 0 && torch_like(old, 1) == 0);
	check(torch_like((const unsigned char *)"GET / HTTP/1.1", 14) == -1);
	check(torch_like((const unsigned char *)"\x16\3\1\2\0\1", 6) == -1);
	unsigned char whole[200];
	check(torch_like(whole, bytes_of(meet_hex, whole)) == -1);
}

int main(void) {
	check_vector();
	check_take();
	check_ended();
	check_died();
	check_hello();
	check_flipped();
	check_cut();
	check_longest();
	check_length();
	check_torch();
	return check_done();
}
