// SPDX-License-Identifier: Apache-2.0

#include "rollcall/line.h"

#include "net/listen.h"
#include "wire/wire.h"

#include <errno.h>
#include <unistd.h>

void line_begin(struct line *line, int fd, char own, const struct key *job,
		const unsigned char greeting[GREETING_BYTES], const unsigned char nonce[NONCE_BYTES]) {
	*line = (struct line){.fd = fd};
	key_of_side(job, own, greeting, nonce, line->send_key);
	key_of_side(job, own == 'm' ? 'd' : 'm', greeting, nonce, line->receive_key);
}

int line_watch(int fd, int epoll, int how, epoll_data_t data) {
	// Edge-triggered, because an incomplete frame stays in the kernel and must not wake us again and
	// again.
	struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data = data};
	return epoll_ctl(epoll, how, fd, &event);
}

int line_send(struct line *line, enum frame_type type, const void *payload, size_t n) {
	unsigned char frame[FRAME_MAX];
	unsigned char *at = put_u16(frame, (uint16_t)(FRAME_MIN + n));
	at = put_u8(at, (uint8_t)type);
	at = put_u8(at, ROLL_VERSION);
	memcpy(at, payload, n);
	const struct sealed what = {frame, FRAME_HEAD, at, n};
	key_seal(line->send_key, line->sent++, &what, at + n);
	return stream_send(line->fd, frame, FRAME_MIN + n);
}

int line_receive(struct line *line, unsigned char *bytes, size_t n, struct frame *out) {
	const struct sealed what = {bytes, FRAME_HEAD, bytes + FRAME_HEAD, n - FRAME_MIN};
	if (!key_open(line->receive_key, line->received, &what, bytes + n - TAG_BYTES) ||
	    bytes[3] != ROLL_VERSION) {
		return -EBADMSG;
	}
	line->received++;
	*out = (struct frame){bytes[2], {(const char *)what.bytes, what.len}};
	return 0;
}

int line_take(struct line *line, unsigned char *bytes, size_t max, bool over, struct frame *out) {
	ssize_t there = stream_peek(line->fd, bytes, max);
	if (there <= 0) {
		return there < 0 ? (int)there : -ENODATA;
	}
	int length = frame_length(bytes, (size_t)there, max);
	if (length < 0) {
		return length;
	}
	if (length == 0 || length > there) {
		return over ? -ENODATA : -EAGAIN;
	}
	// stream_peek() has seen these bytes, so read() returns them.
	if (read(line->fd, bytes, (size_t)length) != length) {
		return -EIO;
	}
	return line_receive(line, bytes, (size_t)length, out) < 0 ? -EPROTO : 0;
}
