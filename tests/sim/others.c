// SPDX-License-Identifier: Apache-2.0

/** Those that are no nodes: another program on the master's port, strangers, and liars that may know the job's secret. */

#include "job.h"

#include "net/listen.h"
#include "wire/wire.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static int connect_to_master(uint16_t port) {
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
	const struct timeval patience = {.tv_sec = 2};
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	at.sin_addr.s_addr = htonl(host_address(0));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/** What a stranger does with its connection. */
static void be_strange(const struct fault *f, int fd) {
	// PyTorch's clients of today, and of some years ago.
	static const char torch[] = {3, (char)0xce, (char)0xf7, (char)0x85, 0x3c, 0, 0, 0},
			  older[] = "\3\5\0\0\0\0\0\0\0init/";
	char noise[64];
	switch (f->kind % 8) {
	case 0:
		return;
	case 1:
		process_sleep(f->lasts);
		return;
	case 2:
		send(fd, "GET / HTTP/1.1\r\nHost: h0\r\nAccept: */*\r\n\r\n", 41, MSG_NOSIGNAL);
		break;
	case 3:
		if (f->code % 4 == 1) {
			send(fd, older, sizeof(older) - 1, MSG_NOSIGNAL);
		} else if (f->code % 4 == 2) {
			send(fd, torch + 1, sizeof(torch) - 1, MSG_NOSIGNAL);
		} else {
			send(fd, torch, sizeof(torch), MSG_NOSIGNAL);
		}
		break;
	case 4:
		send(fd, "half a MEET", 11, MSG_NOSIGNAL);
		process_sleep(f->lasts);
		return;
	case 5:
		memset(noise, 0xa5, sizeof(noise));
		send(fd, noise, sizeof(noise), MSG_NOSIGNAL);
		break;
	case 6:
		shutdown(fd, SHUT_WR);
		process_sleep(f->lasts);
		return;
	default: {
		const struct linger reset = {.l_onoff = 1};
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		return;
	}
	}
	process_sleep(f->lasts / 10);
}

void stranger_main(struct process *process) {
	const struct fault *f = process->context;
	process->mask = ~(uint64_t)0;
	for (unsigned i = 0; i < 1 + f->kind / 8 * 20; i++) {
		const int fd = connect_to_master(JOB_PORT);
		if (fd >= 0) {
			be_strange(f, fd);
			close(fd);
		}
	}
}

static bool read_all(int fd, void *bytes, size_t n) {
	return recv(fd, bytes, n, MSG_WAITALL) == (ssize_t)n;
}

static void send_hello(struct line *line, const struct fault *f) {
	unsigned char payload[HELLO_MAX];
	struct hello hello = {
		.rank = f->code % 2 ? (uint32_t)f->node : job.n - 1 + f->kind % 3,
		.size = f->kind % 5 == 4 ? job.n - 1 : job.n,
		.starts = f->kind % 7 == 6,
		.incarnation = 4711 + f->kind,
		.left_ms = f->kind % 2 ? 10 : UINT32_MAX,
		.able = f->code % 4 == 3 ? ABLE_NOT : ABLE,
		.why_not = f->code % 4 == 3 ? STR("a lie") : STR(""),
		.host = STR("liar"),
		.node = STR("liar"),
	};
	line_send(line, FRAME_HELLO, payload, hello_encode(&hello, payload));
}

/** Lies of a member that has said HELLO. */
static void lie_as_member(const struct fault *f, struct line *line) {
	unsigned char payload[HELLO_MAX];
	const enum bye_why bye = (enum bye_why)(1 + f->code % 3);
	const struct ended ended = {.why = (uint8_t)f->code,
				    .status = 1,
				    .rank = 9,
				    .host = STR("x"),
				    .text = STR("a lie"),
				    .again = 1,
				    .pause_ms = 1 << 30,
				    .then = STR("")};
	const struct died died = {
		.ago_ms = 1 << 30, .status = 9, .what = (uint8_t)(f->code & 3), .text = STR("a lie")};
	switch (f->kind % 8) {
	case 0:
		break;
	case 1:
		line_send(line, FRAME_BYE, payload, bye_encode(bye, payload));
		line_send(line, FRAME_BYE, payload, bye_encode(bye, payload));
		break;
	case 2:
		for (int i = 0; i < 40; i++) {
			send_hello(line, f);
		}
		break;
	case 3:
		line_send(line, FRAME_FACTS, "\0nonsense", 9);
		break;
	case 4:
		line_send(line, FRAME_GO, payload, go_encode(&(struct go){.port = JOB_PORT}, payload));
		break;
	case 5:
		process_sleep(f->lasts);
		line_send(line, FRAME_ENDED, payload, ended_encode(&ended, payload));
		break;
	case 6:
		process_sleep(f->lasts);
		for (int i = 0; i < 40; i++) {
			line_send(line, FRAME_DIED, payload, died_encode(&died, payload));
		}
		break;
	default:
		memset(payload, 0x5a, 64);
		// A length, and a type: no frame that anybody sealed.
		memcpy(payload, "\x40\0\x01", 3);
		send(line->fd, payload, 64, MSG_NOSIGNAL);
	}
}

/** One connection of a liar. */
static void lie_to_master(const struct fault *f) {
	unsigned char greeting[GREETING_BYTES], meet[MEET_BYTES], proof[FRAME_MIN + 2];
	const struct key *key = plan_key(f->code >= 2);
	struct line line;
	const int fd = connect_to_master(JOB_PORT);
	if (fd < 0) {
		return;
	}
	if (read_all(fd, greeting, sizeof(greeting))) {
		memset(meet, 7, NONCE_BYTES);
		key_proof(key, greeting, meet, meet + NONCE_BYTES);
		line_begin(&line, fd, 'm', key, greeting, meet);
		send(fd, meet, sizeof(meet), MSG_NOSIGNAL);
		if (read_all(fd, proof, sizeof(proof))) {
			send_hello(&line, f);
			lie_as_member(f, &line);
		}
	}
	process_sleep(f->lasts);
	close(fd);
}

void liar_main(struct process *process) {
	const struct fault *f = process->context;
	process->mask = ~(uint64_t)0;
	for (unsigned i = 0; i < 1 + f->kind / 8 * 4; i++) {
		lie_to_master(f);
	}
}

/** Lies of a master. */
static void lie_as_master(const struct fault *f, struct line *line) {
	unsigned char payload[HELLO_MAX];
	const struct wait_news news = {.present = 1, .size = job.n, .left_ms = UINT32_MAX, .since_ms = 5};
	const struct go go = {.port = (uint16_t)(f->code & 1 ? JOB_PORT : 80), .flags = GO_STAY, .start = 7};
	const struct no no = {.kind = (enum no_kind)(1 + f->kind % 9), .text = STR("a lie")};
	unsigned char group = (unsigned char)(f->kind % 7);
	switch (f->kind % 5) {
	case 0:
		line_send(line, FRAME_WAIT, payload, wait_encode(&news, payload));
		break;
	case 1:
		line_send(line, FRAME_GO, payload, go_encode(&go, payload));
		break;
	case 2:
		line_send(line, FRAME_NO, payload, no_encode(&no, payload));
		break;
	case 3:
		for (int i = 0; i < 10; i++) {
			line_send(line, FRAME_ASK, &group, 1);
		}
		break;
	default:
		line_send(line, FRAME_END, "", 0);
	}
}

/** Somebody on the master's port speaks the roll call to who connects. */
static void greet(const struct fault *f, int fd) {
	static const struct greeting greeting = {
		.lowest = ROLL_VERSION, .highest = ROLL_VERSION, .seconds = UINT32_MAX};
	unsigned char bytes[GREETING_BYTES], meet[MEET_BYTES], payload[8];
	const struct key *key = plan_key(f->code >= 2);
	struct line line;
	greeting_encode(&greeting, bytes);
	send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL);
	const struct timeval patience = {.tv_sec = 1};
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (read_all(fd, meet, sizeof(meet))) {
		line_begin(&line, fd, 'd', key, bytes, meet);
		line_send(&line, FRAME_PROOF, payload, proof_encode(JOB_PORT, payload));
		process_sleep(2 * (weather.latency + weather.jitter) + 5 * MS);
		lie_as_master(f, &line);
		process_sleep(f->lasts);
	}
}

void taken_main(struct process *process) {
	const struct fault *f = process->context;
	struct sockaddr_in6 at = {.sin6_family = AF_INET6, .sin6_port = htons(JOB_PORT)};
	process->mask = ~(uint64_t)0;
	const int listener = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(listener, 9) < 0) {
		return;
	}
	const uint64_t until = time_now + f->lasts;
	if (f->kind % 8 == 0) {
		process_sleep(f->lasts);
	}
	while (time_now < until) {
		struct pollfd one = {.fd = listener, .events = POLLIN};
		int fd;
		if (poll(&one, 1, (int)((until - time_now) / MS + 1)) <= 0 ||
		    (fd = accept4(listener, NULL, NULL, 0)) < 0) {
			continue;
		}
		if (f->kind % 8 == 2) {
			send(fd, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", 47, MSG_NOSIGNAL);
		} else if (f->kind % 8 == 3) {
			send(fd, "DISTROLL\4\4\0\0\1\0\0\0abcdefghijklmnop", 32, MSG_NOSIGNAL);
			process_sleep(300 * MS);
		} else if (f->kind % 8 >= 4) {
			greet(f, fd);
		}
		close(fd);
	}
	close(listener);
}
