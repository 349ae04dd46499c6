// SPDX-License-Identifier: Apache-2.0

#include "rollcall/line.h"

#include "check.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static const char greeting_hex[] =
	"44495354524f4c4c0101010058020000000102030405060708090a0b0c0d0e0fbb39bdb1a74ba75611b43ab5168e0259";
static const char hello_hex[] =
	"80000101101112131415161718191a1b1c1d1e1f01000000020000008877665544332211803f3201a20100003c730004c027"
	"090001000000"
	"000000000200000000000000030000000000000004000000000000000500000000000000060000000000000002"
	"6e32026e3205302e322e300294888a7e0daaef4b63a70ac5b4e43a";
static const char go_hex[] =
	"280012013c73000000000000d204000052443201a2010000887a113617a553f2924b5b9299212163";

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
	.nonce = {0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e,
		  0x1f},
	.rank = 1,
	.size = 2,
	.incarnation = 0x1122334455667788,
	.clock_ms = 1795316400000,
	.port = 29500,
	.flags = HELLO_PORT_MAY_MOVE,
	.left_ms = 600000,
	.digest = {1, 2, 3, 4, 5, 6},
	.host = {"n2", 2},
	.node = {"n2", 2},
	.version = {"0.2.0", 5},
};

static struct pair begin(void) {
	struct pair p;
	struct key job;
	struct greeting greeting = {.lowest = 1, .highest = 1, .flags = GREETING_SECRET, .seconds = 600};
	unsigned char bytes[GREETING_BYTES];
	for (unsigned char i = 0; i < NONCE_BYTES; i++) {
		greeting.nonce[i] = i;
	}
	key_of_job(STR("correct horse"), "slurm:4711.0", &job);
	key_tag(&job, greeting.tag);
	greeting_encode(&greeting, bytes);
	check_text(hex_of(bytes, sizeof(bytes)), greeting_hex, "greeting");
	check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, p.fds) == 0);
	line_begin(&p.member, p.fds[0], 'm', &job, bytes, hello.nonce);
	line_begin(&p.coordinator, p.fds[1], 'd', &job, bytes, hello.nonce);
	return p;
}

static void end(struct pair *p) {
	close(p->fds[0]);
	close(p->fds[1]);
}

static void check_vector(void) {
	struct pair p = begin();
	unsigned char payload[HELLO_MAX], got[FRAME_MAX];
	struct frame frame;
	struct hello back;
	size_t n = hello_encode(&hello, payload);
	check(line_send(&p.member, FRAME_HELLO, payload, n) == 0);
	ssize_t length = read(p.fds[1], got, sizeof(got));
	check_text(hex_of(got, length > 0 ? (size_t)length : 0), hello_hex, "HELLO");
	unsigned char whole[200];
	check(bytes_of(hello_hex, whole) == 128);
	check(line_receive(&p.coordinator, whole, 128, &frame) == 0 && frame.type == FRAME_HELLO);
	check(hello_decode(frame.payload, &back) == 0);
	check(back.rank == 1 && back.size == 2 && back.incarnation == hello.incarnation &&
	      back.digest[4] == 5);
	check(back.clock_ms == hello.clock_ms && back.port == 29500 && back.flags == 4 &&
	      back.left_ms == 600000);
	check(str_is(back.host, "n2") && str_is(back.version, "0.2.0"));
	const struct go go = {.port = 29500, .took_ms = 1234, .clock_ms = 1795316401234};
	n = go_encode(&go, payload);
	check(line_send(&p.coordinator, FRAME_GO, payload, n) == 0);
	length = read(p.fds[0], got, sizeof(got));
	check_text(hex_of(got, length > 0 ? (size_t)length : 0), go_hex, "GO");
	struct go told;
	check(line_receive(&p.member, got, (size_t)length, &frame) == 0 && frame.type == FRAME_GO);
	check(go_decode(frame.payload, &told) == 0 && told.took_ms == 1234 && told.clock_ms == go.clock_ms);
	// The same bytes again are a replay: the counter went on.
	check(line_receive(&p.member, got, (size_t)length, &frame) == -EBADMSG);
	end(&p);
}

/** What ends all: as it was sent, and nothing that is cut, longer, or unknown. */
static void check_ended(void) {
	const struct ended first = {.why = END_FAILED,
				    .status = 137,
				    .rank = 7,
				    .host = STR("n7"),
				    .text = STR("killed by SIGKILL")};
	unsigned char payload[HELLO_MAX];
	struct ended back;
	size_t n = ended_encode(&first, payload);
	check(n == 8 + 1 + 2 + 1 + 17);
	for (size_t length = 0; length <= n + 1; length++) {
		int expected = length == n ? 0 : -EPROTO;
		payload[n] = 0;
		check(ended_decode((struct str){(char *)payload, length}, &back) == expected);
	}
	check(ended_decode((struct str){(char *)payload, n}, &back) == 0);
	check(back.why == END_FAILED && back.status == 137 && back.rank == 7 && str_is(back.host, "n7") &&
	      str_is(back.text, "killed by SIGKILL"));
	payload[0] = END_TOLD + 1;
	check(ended_decode((struct str){(char *)payload, n}, &back) == -EPROTO);
}

/** A frame with one bit flipped is refused, whichever it is. */
static void check_flipped(void) {
	struct pair p = begin();
	unsigned char whole[200];
	struct frame frame;
	size_t n = bytes_of(hello_hex, whole);
	unsigned taken = 0;
	for (size_t i = 0; i < n * 8; i++) {
		struct line line = p.coordinator;
		whole[i / 8] ^= (unsigned char)(1 << i % 8);
		taken += line_receive(&line, whole, n, &frame) == 0;
		whole[i / 8] ^= (unsigned char)(1 << i % 8);
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
	checkf(wrong == 0, "%u cut payloads", wrong);
	check(go_decode((struct str){(char *)payload, go_encode(&(struct go){0}, payload)}, &go) == -EPROTO);
}

/** Names as long as they may be leave room for the rest. */
static void check_longest(void) {
	static char name[300];
	memset(name, 'a', sizeof(name));
	unsigned char payload[HELLO_MAX];
	struct hello h = hello, back;
	h.host = h.node = h.version = (struct str){name, sizeof(name)};
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
	check(torch_like(whole, bytes_of(hello_hex, whole)) == -1);
}

int main(void) {
	check_vector();
	check_ended();
	check_flipped();
	check_cut();
	check_longest();
	check_length();
	check_torch();
	return check_done();
}
